// SPDX-License-Identifier: Apache-2.0
// Groups tell by their name who made them: what a dead launcher left is found and removed.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "os/cgroup_layout.h"

namespace cordon::launcher {

// "cordon-ID-PID.START" of this launcher: who finds it later can tell whether its maker lives.
Result<std::string> group_name(const std::string& id);

// Removes the empty groups that launchers which have ended left beside ours. Gives how many.
std::size_t reclaim_groups(const os::CgroupTrees& trees);

}  // namespace cordon::launcher
