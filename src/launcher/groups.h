// SPDX-License-Identifier: Apache-2.0
// The control groups of one sandbox, on whichever versions the host has.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "frame/launch_plan.h"
#include "os/cgroup.h"
#include "os/cgroup_layout.h"
#include "os/cgroup_v1.h"

namespace cordon::launcher {

// Where groups are made, each hierarchy opened once.
class GroupTrees {
 public:
  // Those that we may not even read are left out.
  static GroupTrees open(const os::CgroupTrees& trees);

  struct V1 {
    os::CgroupV1Parent parent;
    std::string path;
  };
  CgroupLayout layout = CgroupLayout::none;
  std::vector<V1> v1;
  os::Fd v2;  // empty where there is no such tree
  std::string v2_path;
};
// Owned by the launcher and by the groups of each sandbox, which are found by it again.
using Trees = std::shared_ptr<const GroupTrees>;

// What a group of version 1 is made for beside counting: the memory of a sandbox without a memory
// limit is not counted, since that alone costs as much as half of a sandbox.
struct GroupNeeds {
  bool memory = true;
  bool io = false;
  friend bool operator==(const GroupNeeds&, const GroupNeeds&) = default;
};
GroupNeeds needs_of(const frame::LaunchPlan& plan);

// Owns the groups: its end kills all that lives in them and removes them.
class SandboxGroups {
 public:
  // Makes them below the launcher's own. Where the plan wants no groups only a version 2 group is
  // made, if that is possible: for killing at one write.
  static Result<SandboxGroups> create(Trees trees, std::string name, const frame::LaunchPlan& plan);
  // The same ahead of any plan, without limits: `limit` comes when there is one.
  static Result<SandboxGroups> prepare(Trees trees, std::string name, const GroupNeeds& needs);
  SandboxGroups(SandboxGroups&&) noexcept = default;
  SandboxGroups& operator=(SandboxGroups&&) = delete;
  ~SandboxGroups();

  // Once, before anything lives in them.
  Status limit(const frame::LaunchPlan& plan) const;

  // What the plan's I/O limit means on this host; before anything enters.
  Status hold_io(const std::vector<os::IoLimit>& limits) const;

  // For clone3; nullptr where there is no version 2 tree.
  const os::Fd* v2_dir() const noexcept { return v2_ ? &v2_->dir() : nullptr; }
  // The child's part: enters the groups that clone3 cannot start it in.
  Status enter() const;

  // Holds no descriptor from here on: a launcher has as many sandboxes as it has descriptors. They
  // are opened again when something is asked of them.
  void rest();

  // Paths of the directories, for who reads usage from outside.
  const std::vector<std::string>& paths() const noexcept { return paths_; }

  // What the groups have counted, of whichever version counts it.
  os::CgroupUsage usage();

 private:
  SandboxGroups(Trees trees, std::string name) : trees_{std::move(trees)}, name_{std::move(name)} {}
  Status add_v1(const GroupNeeds& needs);
  Status add_v2();
  void wake();

  Trees trees_;
  std::string name_;
  std::optional<os::CgroupV1> v1_;
  std::optional<os::Cgroup> v2_;
  std::vector<std::string> paths_;
  bool rests_ = false;
};

// Lets sandboxes' groups be made where version 2 can limit them: see os/cgroup_place.h.
void place_groups(os::CgroupTrees& trees);

// Lets sandboxes' groups be made in `cgroup`, a path below the launcher's own group, which is made
// where it is not there. On a host with version 2 alone the path begins beside the launcher's own
// group, in the one above it: the kernel gives controllers only to groups without processes, and
// the launcher is one. An error where others live in that one.
Status place_groups_below(os::CgroupTrees& trees, const std::string& cgroup);

}  // namespace cordon::launcher
