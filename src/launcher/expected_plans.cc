// SPDX-License-Identifier: Apache-2.0
#include "launcher/expected_plans.h"

#include <utility>

namespace cordon::launcher {

std::shared_ptr<const Known> ExpectedPlans::note(const JudgedPlan& plan,
                                                 const FloorSources& sources) {
  auto shape = Shape::of(plan);
  if (!shape) return nullptr;
  const auto found =
      std::ranges::find_if(all_, [&](const Expected& each) { return each.plan->shape == *shape; });
  if (found == all_.end()) {
    Known known{plan, *std::move(shape), SourceMarks::of(*plan, sources)};
    all_.push_front({std::make_shared<const Known>(std::move(known)), 1});
    if (all_.size() > kMost) all_.pop_back();
    return nullptr;
  }
  ++found->times;
  std::rotate(all_.begin(), found, found + 1);
  Expected& latest = all_.front();
  SourceMarks now = SourceMarks::of(*plan, sources);
  if (now == latest.plan->marks) return latest.plan;
  // What was made shows what is no longer there.
  Known known = *latest.plan;
  known.marks = std::move(now);
  latest.plan = std::make_shared<const Known>(std::move(known));
  return nullptr;
}

bool ExpectedPlans::holds(const Known* known) const noexcept {
  return std::ranges::any_of(all_, [&](const Expected& each) { return each.plan.get() == known; });
}

void ExpectedPlans::forget(const Known* known) {
  std::erase_if(all_, [&](const Expected& each) { return each.plan.get() == known; });
}

}  // namespace cordon::launcher
