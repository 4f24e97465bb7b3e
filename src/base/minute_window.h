// SPDX-License-Identifier: Apache-2.0
// So many in a minute, counted as a person reads it: any minute, and all of them at once if need
// be.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace cordon {

// Never more than `most` within any 60 seconds. Counts by seconds, so that what is used comes back
// after 60 seconds, a second more at most.
class MinuteWindow {
 public:
  static constexpr std::int64_t kSeconds = 61;  // the one that runs, and 60 before it

  // What was taken, by seconds of the clock: a window that goes on where another has ended.
  struct Used {
    std::int64_t second = 0;  // the last one
    std::array<std::uint32_t, kSeconds> counts{};
  };

  explicit MinuteWindow(std::uint64_t most) : most_{most} {}
  MinuteWindow(std::uint64_t most, const Used& used) : most_{most}, used_{used} {
    for (const std::uint32_t count : used_.counts) sum_ += count;
  }

  // A time before that of the last call counts as that time.
  bool take(Ticks now);
  std::uint64_t most() const noexcept { return most_; }
  // From now on; what is taken stays taken.
  void set_most(std::uint64_t most) noexcept { most_ = most; }
  const Used& used() const noexcept { return used_; }

 private:
  std::uint64_t most_;
  Used used_;
  std::uint64_t sum_ = 0;  // of its counts
};

}  // namespace cordon
