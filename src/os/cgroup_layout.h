// SPDX-License-Identifier: Apache-2.0
// Where this host's control groups are mounted and where we are in them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/host_facts.h"

namespace cordon::os {

struct CgroupMount {
  bool v2 = false;
  std::string path;  // of the mount point
  std::string root;  // the group that shows there as the top; "/" unless part of a tree is mounted
  std::vector<std::string> controllers;  // v1 only; "name=systemd" for a named hierarchy
  bool read_only = false;

  friend bool operator==(const CgroupMount&, const CgroupMount&) = default;
};

struct CgroupMembership {
  std::vector<std::string> controllers;  // empty: the v2 tree
  std::string path;                      // "/" or "/a/b"; begins with "/.." outside our namespace

  friend bool operator==(const CgroupMembership&, const CgroupMembership&) = default;
};

// Text of /proc/PID/mountinfo. Lines that are no cgroup mounts, or malformed, are passed over.
std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

// Text of /proc/PID/cgroup.
std::vector<CgroupMembership> parse_cgroup_memberships(std::string_view text);

struct CgroupHierarchy {
  CgroupMount mount;
  // The directory of our own group, or nothing when it does not lie below the mount.
  std::optional<std::string> own;

  friend bool operator==(const CgroupHierarchy&, const CgroupHierarchy&) = default;
};

struct CgroupTrees {
  CgroupLayout layout = CgroupLayout::none;
  std::vector<CgroupHierarchy> hierarchies;  // each hierarchy once

  const CgroupHierarchy* v2() const noexcept;
  // The v1 hierarchy that has the controller. Points into this object, as v2() does.
  const CgroupHierarchy* v1(std::string_view controller) const noexcept;
};

// Joins the two texts. `hybrid`: controllers on v1 and a v2 tree beside them.
CgroupTrees locate_cgroups(std::string_view mountinfo, std::string_view memberships);

// The same for the calling process, from /proc/self.
Result<CgroupTrees> read_cgroup_trees();

}  // namespace cordon::os
