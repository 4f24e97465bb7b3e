// SPDX-License-Identifier: Apache-2.0
// A rate with some slack: tokens flow in evenly, and so many can wait to be used at once.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace cordon::egress {

// Over any time t no more than burst + t * rate tokens are given out.
class TokenBucket {
 public:
  // Full at first. Before: per_second > 0, burst >= 1.
  TokenBucket(double per_second, std::uint64_t burst, Ticks now)
      : per_second_{per_second}, burst_{static_cast<double>(burst)}, level_{burst_}, filled_{now} {}

  // Another rate from now on, with what is there, as far as it still fits.
  void change(double per_second, std::uint64_t burst, Ticks now);

  // All of them or none. A time before that of the last call counts as that time.
  bool take(std::uint64_t count, Ticks now);
  // As many of them as there are.
  std::uint64_t take_some(std::uint64_t count, Ticks now);
  // Until `count` are there, or as many as there can be.
  std::chrono::nanoseconds wait_for(std::uint64_t count, Ticks now) const;

 private:
  void fill(Ticks now);

  double per_second_;
  double burst_;
  double level_;
  Ticks filled_;
};

}  // namespace cordon::egress
