// SPDX-License-Identifier: Apache-2.0
// So many in a minute, counted as a person reads it: any minute, and all of them at once if need
// be.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace cordon::egress {

// Never more than `most` within any 60 seconds. Counts by seconds, so that what is used comes back
// after 60 seconds, a second more at most.
class MinuteWindow {
 public:
  explicit MinuteWindow(std::uint64_t most) : most_{most} {}

  // A time before that of the last call counts as that time.
  bool take(Ticks now);
  std::uint64_t most() const noexcept { return most_; }

 private:
  static constexpr std::int64_t kSeconds = 61;  // the one that runs, and 60 before it

  std::uint64_t most_;
  std::array<std::uint32_t, kSeconds> used_{};
  std::uint64_t sum_ = 0;  // of used_
  std::int64_t second_ = 0;
};

}  // namespace cordon::egress
