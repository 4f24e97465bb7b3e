// SPDX-License-Identifier: Apache-2.0
// Plans that came more than once, and for which sandboxes are made before they come again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>

#include "launcher/floor.h"
#include "launcher/floor_sources.h"
#include "launcher/shape.h"

namespace cordon::launcher {

// A plan that was wanted before, and may be again.
struct Known {
  JudgedPlan plan;
  Shape shape;
  SourceMarks marks;  // when the first sandbox of it was made, or is about to be
};

class ExpectedPlans {
 public:
  // Counts it, and gives what it is known as. Nothing: it came for the first time, or what it shows
  // has been replaced since, or others may write that. What was made for plans that this does not
  // hold any more is of no use.
  std::shared_ptr<const Known> note(const JudgedPlan& plan, const FloorSources& sources);
  bool holds(const Known* known) const noexcept;
  void forget(const Known* known);
  void clear() { all_.clear(); }

  // For whom the next is to be made, of `most` in all: whoever came last and has not its share.
  // Nothing: for nobody. `count`: how many wait for one.
  std::shared_ptr<const Known> next(std::size_t most, auto count) const noexcept {
    const auto several = static_cast<std::size_t>(std::ranges::count_if(all_, comes_again));
    if (several == 0) return nullptr;
    const std::size_t share = std::max<std::size_t>(1, most / several);
    for (const Expected& each : all_) {
      if (comes_again(each) && count(each.plan.get()) < share) return each.plan;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kMost = 8;  // different ones
  struct Expected {
    std::shared_ptr<const Known> plan;
    unsigned times = 0;
  };
  static bool comes_again(const Expected& each) noexcept { return each.times > 1; }

  std::deque<Expected> all_;  // those wanted last first
};

}  // namespace cordon::launcher
