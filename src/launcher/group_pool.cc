// SPDX-License-Identifier: Apache-2.0
#include "launcher/group_pool.h"

#include <fmt/format.h>

#include "base/log.h"
#include "launcher/group_reclaim.h"

namespace cordon::launcher {

Result<SandboxGroups> GroupPool::take(const frame::LaunchPlan& plan) {
  failed_ = false;
  if (plan.groups) expect(needs_of(plan));
  if (!plan.groups || ready_.empty()) {
    TRY(std::string name, group_name(plan.id));
    return SandboxGroups::create(trees_, std::move(name), plan);
  }
  SandboxGroups groups = std::move(ready_.front());
  ready_.pop_front();
  // One whose limits cannot be set is not used: it goes with this block.
  TRY_DO(groups.limit(plan));
  return groups;
}

Result<SandboxGroups> GroupPool::take_bare(const GroupNeeds& needs) {
  failed_ = false;
  expect(needs);
  if (ready_.empty()) return make();
  SandboxGroups groups = std::move(ready_.front());
  ready_.pop_front();
  return groups;
}

void GroupPool::expect(const GroupNeeds& needs) {
  if (needs_ != needs) ready_.clear();
  needs_ = needs;
}

Result<SandboxGroups> GroupPool::make() {
  TRY(std::string name, group_name(fmt::format("pool-{}", next_++)));
  return SandboxGroups::prepare(trees_, std::move(name), needs_);
}

void GroupPool::refill() {
  auto made = make();
  if (made) {
    ready_.push_back(*std::move(made));
    return;
  }
  failed_ = true;
  log(LogLevel::warning, "launcher", "no control group ahead",
      {{"why", std::string_view{made.error().text()}}});
}

}  // namespace cordon::launcher
