// SPDX-License-Identifier: Apache-2.0
#include "base/minute_window.h"

#include <chrono>

namespace cordon {

bool MinuteWindow::take(Ticks now) {
  const auto slot = [&](std::int64_t second) -> std::uint32_t& {
    return used_.counts.at(static_cast<std::size_t>(second % kSeconds));
  };
  const std::int64_t second =
      std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  if (second - used_.second >= kSeconds) {
    used_.counts.fill(0);
    sum_ = 0;
    used_.second = second;
  }
  while (used_.second < second) {
    ++used_.second;
    sum_ -= slot(used_.second);
    slot(used_.second) = 0;
  }
  if (sum_ >= most_) return false;
  ++slot(used_.second);
  ++sum_;
  return true;
}

}  // namespace cordon
