// SPDX-License-Identifier: Apache-2.0
#include "launcher/group_pool.h"

#include <fmt/format.h>

#include "base/log.h"

namespace cordon::launcher {

Result<SandboxGroups> GroupPool::take(const frame::LaunchPlan& plan) {
  failed_ = false;
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

void GroupPool::refill() {
  auto name = group_name(fmt::format("pool-{}", next_++));
  auto made = name ? SandboxGroups::prepare(trees_, *std::move(name))
                   : Result<SandboxGroups>{std::move(name).error()};
  if (made) {
    ready_.push_back(*std::move(made));
    return;
  }
  failed_ = true;
  log(LogLevel::warning, "launcher", "no control group ahead",
      {{"why", std::string_view{made.error().text()}}});
}

}  // namespace cordon::launcher
