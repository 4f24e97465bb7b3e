// SPDX-License-Identifier: Apache-2.0
// The sandbox's file tree, built from nothing in the sandbox's own mount namespace.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "launcher/floor.h"
#include "launcher/sources.h"
#include "os/fd.h"

namespace cordon::launcher {

// What any plan's tree stands on: the own disk, and on it an empty "/" with /dev and /proc.
struct Ground {
  os::Fd disk;
  os::Fd root;
  os::Fd devices;  // /dev where it is a mount of its own, not read-only yet
  // Directories of the disk as detached mounts, to be put in their places.
  std::vector<os::Fd> own;
  // /proc/sys/user of this pid namespace, still writable: keep it for the last settings, hand it to
  // nobody.
  os::Fd limits;
};

// How many directories of its own disk the plan's tree has.
std::size_t own_directories(const frame::LaunchPlan& plan);

// What the ground is laid for.
struct GroundPlan {
  const frame::Disk& disk;
  const os::Fd& image;  // the disk where it is one, detached
  std::size_t own = 0;  // how many directories of the own disk to make
  // Of a root with a layer: the root itself, detached, and whose the ids in it are.
  const os::Fd* lower = nullptr;
  HostIds ids{};
};
GroundPlan ground_plan(const JudgedPlan& plan, const HostIds& ids, const Sources& sources);

// Before: a fresh mount and pid namespace, with the rights to mount in them.
Result<Ground> lay_ground(const GroundPlan& plan);
// The same without /dev and /proc, which an engine makes; there are no limits to keep.
Result<Ground> lay_bare_ground(const GroundPlan& plan);
// Puts what the plan shows on the ground; its root is read-only then, but for one with a layer.
// Without a disk there are no
// pins, and no workspace for review. Before: no other mount is in the namespace below the ground.
Status furnish(const Ground& ground, const JudgedPlan& plan, const HostIds& ids,
               const Sources& sources);
// It becomes "/": nothing else is left in the namespace then.
Status enter_root(const os::Fd& root);
// Detached copies of shared mounts would still send and receive mounts: no more from here on.
Status keep_mounts_apart();

}  // namespace cordon::launcher
