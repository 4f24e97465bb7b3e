// SPDX-License-Identifier: Apache-2.0
// The control groups of one sandbox, on whichever versions the host has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "frame/launch_plan.h"
#include "os/cgroup.h"
#include "os/cgroup_layout.h"
#include "os/cgroup_v1.h"

namespace cordon::launcher {

// Owns the groups: its end kills all that lives in them and removes them.
class SandboxGroups {
 public:
  // Makes them below the launcher's own. Where the plan wants no groups only a version 2 group is
  // made, if that is possible: for killing at one write.
  static Result<SandboxGroups> create(const os::CgroupTrees& trees, const std::string& name,
                                      const frame::LaunchPlan& plan);

  // What the plan's I/O limit means on this host; before anything enters.
  Status hold_io(const std::vector<os::IoLimit>& limits) const;

  // For clone3; nullptr where there is no version 2 tree.
  const os::Fd* v2_dir() const noexcept { return v2_ ? &v2_->dir() : nullptr; }
  // The child's part: enters the groups that clone3 cannot start it in.
  Status enter() const;

  // Paths of the directories, for who reads usage from outside.
  const std::vector<std::string>& paths() const noexcept { return paths_; }

  // What the groups have counted, of whichever version counts it.
  os::CgroupUsage usage() const;

  // SIGKILL to all. Not all need be dead when it returns.
  Status kill() const;

 private:
  SandboxGroups() = default;
  Status add_v1(const os::CgroupTrees& trees, const std::string& name,
                const frame::LaunchPlan& plan);
  Status add_v2(const os::CgroupTrees& trees, const std::string& name,
                const frame::LaunchPlan& plan);

  std::optional<os::CgroupV1> v1_;
  std::optional<os::Cgroup> v2_;
  std::vector<std::string> paths_;
};

// "cordon-ID-PID.START" of this launcher: who finds it later can tell whether its maker lives.
Result<std::string> group_name(const std::string& id);

// Removes the empty groups that launchers which have ended left beside ours. Gives how many.
std::size_t reclaim_groups(const os::CgroupTrees& trees);

}  // namespace cordon::launcher
