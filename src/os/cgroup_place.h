// SPDX-License-Identifier: Apache-2.0
// Where in a version 2 tree the groups of a caller can be made and limited.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "os/cgroup_layout.h"

namespace cordon::os {

// What the limits of a sandbox are held by; "io" comes on top where there is one.
inline constexpr std::array<std::string_view, 3> kLimitControllers{"memory", "pids", "cpu"};

// The directory below which this caller's groups belong: its own group, or one above it that hands
// more of the controllers on; the nearest of equals. The kernel gives controllers only to groups
// without processes, and the caller is one, so that beside its own group is mostly the place.
// Nothing where it may neither make groups nor move its children into them.
std::optional<std::string> place_of_groups(const CgroupHierarchy& tree);

}  // namespace cordon::os
