// SPDX-License-Identifier: Apache-2.0
// How much output all answers that collect some hold together: each is bounded, and there may be
// many.
#pragma once

#include <cstddef>

namespace cordon::api {

// Of what one command writes, both streams together: an answer is one text in memory.
inline constexpr std::size_t kMostCollected = std::size_t{16} << 20U;
// Of all at once.
inline constexpr std::size_t kMostCollectedByAll = std::size_t{256} << 20U;

// Used from the loop's thread only. Outlives its shares.
class CollectingRoom {
 public:
  // What one answer holds, until it goes.
  class Share {
   public:
    explicit Share(CollectingRoom& room) noexcept : room_{room} {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { room_.held_ -= held_; }

    // False: there is no room for them; nothing was taken.
    bool take(std::size_t bytes) noexcept {
      if (bytes > kMostCollected - held_ || bytes > kMostCollectedByAll - room_.held_) return false;
      held_ += bytes;
      room_.held_ += bytes;
      return true;
    }

   private:
    CollectingRoom& room_;
    std::size_t held_ = 0;
  };

 private:
  std::size_t held_ = 0;
};

}  // namespace cordon::api
