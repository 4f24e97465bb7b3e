// SPDX-License-Identifier: Apache-2.0
// The groups that the cgroup experiments are made with: limited, read back, removed at their end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/cgroup.h"
#include "os/cgroup_layout.h"
#include "os/cgroup_v1.h"

namespace cordon::os {

// Owns one group of version 2, or one of version 1 for each controller, in which a limit on memory,
// pids (1) or cpu was set and read back.
class TrialGroups {
 public:
  // Version 2 where it has the controllers, else version 1. Never fails as a whole: `refusals`.
  static TrialGroups make(const CgroupTrees& trees);

  // Moves the caller, which is a trial's child, into all of them.
  Status enter() const;

  std::vector<std::string> controllers() const { return held_; }
  // "not memory pids: Permission denied", for the controllers that are not held.
  const std::vector<std::string>& refusals() const noexcept { return refusals_; }
  // No controller is mounted anywhere: nothing forbids it, there is nothing.
  bool lacks_all() const noexcept { return lacking_ > 0 && lacking_ == refused_; }

 private:
  void make_v1(const CgroupTrees& trees);
  void make_v2(const CgroupTrees& trees);
  // Not one of those that a level needs: where it does not hold nothing is refused.
  void add_io(const CgroupTrees& trees);
  void refuse(std::string_view controller, const std::string& why);

  std::vector<CgroupV1> v1_;
  std::optional<Cgroup> v2_;
  std::vector<std::string> held_;
  std::vector<std::string> refusals_;
  std::size_t refused_ = 0;
  std::size_t lacking_ = 0;  // of those: mounted nowhere
};

// A group in the version 2 tree, where sandboxes of this caller have theirs (cgroup_place.h).
Result<Cgroup> make_v2_group(const CgroupTrees& trees);

}  // namespace cordon::os
