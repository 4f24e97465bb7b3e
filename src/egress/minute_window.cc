// SPDX-License-Identifier: Apache-2.0
#include "egress/minute_window.h"

#include <chrono>

namespace cordon::egress {

bool MinuteWindow::take(Ticks now) {
  const auto slot = [&](std::int64_t second) -> std::uint32_t& {
    return used_.at(static_cast<std::size_t>(second % kSeconds));
  };
  const std::int64_t second =
      std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  if (second - second_ >= kSeconds) {
    used_.fill(0);
    sum_ = 0;
    second_ = second;
  }
  while (second_ < second) {
    ++second_;
    sum_ -= slot(second_);
    slot(second_) = 0;
  }
  if (sum_ >= most_) return false;
  ++slot(second_);
  ++sum_;
  return true;
}

}  // namespace cordon::egress
