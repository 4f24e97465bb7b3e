// SPDX-License-Identifier: Apache-2.0
// What control groups have counted, for who does not own them.
#pragma once

#include <span>
#include <string>

#include "os/cgroup_limits.h"

namespace cordon::os {

// `directories`: of one sandbox, in any hierarchies of either version. What is not there is absent.
CgroupUsage read_cgroup_usage(std::span<const std::string> directories);

}  // namespace cordon::os
