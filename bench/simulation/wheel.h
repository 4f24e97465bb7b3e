// SPDX-License-Identifier: Apache-2.0
// What happens in which millisecond of a simulation.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace cordon::simulation {

using Millis = std::chrono::milliseconds;  // since the beginning

// The clock that the code under simulation is told. Not 0: nothing in it may take that for "never".
inline Ticks ticks_at(Millis now) { return Ticks{std::chrono::seconds{1000}} + now; }

template <class What>
class Wheel {
 public:
  explicit Wheel(Millis end) : slots_(static_cast<std::size_t>(end.count()) + 1) {}

  // Never in a millisecond that was taken: then in the next. What is after the end is left out.
  void at(Millis when, What what) {
    const auto slot = std::max(static_cast<std::size_t>(when.count()), next_);
    if (slot < slots_.size()) slots_[slot].push_back(std::move(what));
  }
  std::vector<What> take(Millis now) {
    next_ = static_cast<std::size_t>(now.count()) + 1;
    return std::exchange(slots_[next_ - 1], {});
  }

 private:
  std::vector<std::vector<What>> slots_;
  std::size_t next_ = 0;
};

}  // namespace cordon::simulation
