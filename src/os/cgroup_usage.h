// SPDX-License-Identifier: Apache-2.0
// What control groups have counted, for who does not own them.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "os/cgroup_limits.h"

namespace cordon::os {

// `directories`: of one sandbox, in any hierarchies of either version. What is not there is absent.
CgroupUsage read_cgroup_usage(std::span<const std::string> directories);

// Removes a group that holds no process any more; waits at most `tries` milliseconds for the end of
// the last one to be seen. One that is not there counts as removed.
Status remove_group(const std::string& directory, int tries);

}  // namespace cordon::os
