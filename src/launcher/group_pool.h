// SPDX-License-Identifier: Apache-2.0
// Control groups, made ahead while nobody waits.
#pragma once

#include <deque>
#include <string>

#include "base/result.h"
#include "frame/launch_plan.h"
#include "launcher/groups.h"

namespace cordon::launcher {

// Each set of groups is used once: what was taken is removed by its owner and never comes back. A
// group cannot be renamed (version 2 has no such call), so one of the pool is called
// "cordon-pool-N-PID.START" and keeps that name: Launched tells which groups a sandbox has.
class GroupPool {
 public:
  // `ahead`: how many to hold; 0: every one is made, under its sandbox's id, when it is asked for.
  // Makes none yet.
  GroupPool(Trees trees, unsigned ahead) : trees_{std::move(trees)}, ahead_{ahead} {}

  // With the plan's limits. Made afresh where none is ready, or the plan wants no limits kept, or
  // others than those before it: what was made for these goes.
  Result<SandboxGroups> take(const frame::LaunchPlan& plan);

  // The same before there is a plan, without limits.
  Result<SandboxGroups> take_bare(const GroupNeeds& needs);

  unsigned ahead() const noexcept { return ahead_; }
  // Whether there is something to do when nobody waits; false after a failure, until the next take.
  bool wants_more() const noexcept { return !failed_ && ready_.size() < ahead_; }
  // Makes one.
  void refill();

 private:
  // Those of other needs go.
  void expect(const GroupNeeds& needs);
  Result<SandboxGroups> make();

  Trees trees_;
  unsigned ahead_;
  GroupNeeds needs_;  // of the last plan: the next is mostly like it
  std::deque<SandboxGroups> ready_;
  std::uint64_t next_ = 0;
  bool failed_ = false;
};

}  // namespace cordon::launcher
