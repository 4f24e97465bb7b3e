// SPDX-License-Identifier: Apache-2.0
#include "egress/token_bucket.h"

#include <algorithm>
#include <cmath>

namespace cordon::egress {

using Seconds = std::chrono::duration<double>;

void TokenBucket::fill(Ticks now) {
  if (now <= filled_) return;
  level_ = std::min(burst_, level_ + Seconds{now - filled_}.count() * per_second_);
  filled_ = now;
}

void TokenBucket::change(double per_second, std::uint64_t burst, Ticks now) {
  fill(now);
  per_second_ = per_second;
  burst_ = static_cast<double>(burst);
  level_ = std::min(level_, burst_);
}

bool TokenBucket::take(std::uint64_t count, Ticks now) {
  fill(now);
  const auto wanted = static_cast<double>(count);
  if (level_ < wanted) return false;
  level_ -= wanted;
  return true;
}

std::uint64_t TokenBucket::take_some(std::uint64_t count, Ticks now) {
  fill(now);
  const double given = std::min(static_cast<double>(count), std::floor(level_));
  level_ -= given;
  return static_cast<std::uint64_t>(given);
}

std::chrono::nanoseconds TokenBucket::wait_for(std::uint64_t count, Ticks now) const {
  TokenBucket then = *this;
  then.fill(now);
  const double missing = std::min(static_cast<double>(count), burst_) - then.level_;
  if (missing <= 0) return std::chrono::nanoseconds{0};
  // Rounded up, and never longer than a day: whoever waits asks again.
  const double nanoseconds = std::ceil(missing / per_second_ * 1e9);
  return std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(nanoseconds, 86400e9))};
}

}  // namespace cordon::egress
