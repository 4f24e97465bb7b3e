// SPDX-License-Identifier: Apache-2.0
// The one source of chance in a simulation: the same seed, the same run.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "simulation/wheel.h"

namespace cordon::simulation {

class Chance {
 public:
  explicit Chance(std::uint32_t seed) : source_{seed} {}

  std::size_t below(std::size_t end) {
    return static_cast<std::size_t>(unit() * static_cast<double>(end));
  }
  bool of(double part) { return unit() < part; }
  Millis between(Millis least, Millis most) {
    return least + Millis{static_cast<std::int64_t>(
                       below(static_cast<std::size_t>((most - least).count()) + 1))};
  }
  // Times between what happens at random, `mean` apart.
  Millis after(double mean_ms) {
    return Millis{static_cast<std::int64_t>(-std::log1p(-unit()) * mean_ms)};
  }
  std::uint64_t poisson(double mean) {
    return mean > 0 ? std::poisson_distribution<std::uint64_t>{mean}(source_) : 0;
  }

 private:
  double unit() { return static_cast<double>(source_() >> 11U) * 0x1.0p-53; }

  std::mt19937_64 source_;
};

}  // namespace cordon::simulation
