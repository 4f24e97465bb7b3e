// SPDX-License-Identifier: Apache-2.0
// Bytes that were read from a connection and are not used yet, where many connections are idle: all
// read into one buffer, and what is left of it is kept apart.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "async/task.h"
#include "base/clock.h"
#include "http/stream.h"

namespace cordon::http {

class SharedInbox {
 public:
  // `room` is shared by all inboxes of the loop; both outlive it.
  SharedInbox(Stream& stream, std::span<char> room) : stream_{stream}, room_{room} {}

  // Bytes that came; empty: the other side has ended what it says. Until `keep` nothing is awaited:
  // another connection may use the room then. Errc::timeout: none came before `deadline`, and the
  // stream is open still.
  async::Task<std::string_view> next(Ticks deadline) {
    if (has_bytes()) co_return std::string_view{held_}.substr(used_);
    CO_TRY(const std::size_t size, co_await stream_.read_before(deadline, room_));
    co_return std::string_view{room_.data(), size};
  }

  // What of those bytes was not used, from their end.
  void keep(std::string_view rest) {
    if (has_bytes()) {
      used_ = held_.size() - rest.size();
    } else {
      held_.assign(rest);
      used_ = 0;
    }
    if (!has_bytes() && held_.capacity() > kSmall) held_ = {};
  }

  bool has_bytes() const noexcept { return used_ < held_.size(); }
  // All that it has; it has nothing any more.
  std::string take() {
    std::string rest = held_.substr(used_);
    held_ = {};
    used_ = 0;
    return rest;
  }

 private:
  static constexpr std::size_t kSmall = 256;

  Stream& stream_;
  std::span<char> room_;
  std::string held_;
  std::size_t used_ = 0;
};

}  // namespace cordon::http
