// SPDX-License-Identifier: Apache-2.0
// Which disks a sandbox reads and writes: those that its I/O limit is about.
#pragma once

#include <vector>

#include "base/result.h"
#include "launcher/disk_image.h"
#include "launcher/floor.h"
#include "launcher/sources.h"
#include "os/cgroup_limits.h"

namespace cordon::launcher {

// Empty where the plan has no such limit. The disks of the workspace, of the caller's mounts and of
// an image must be known, or it fails (unavailable); those of the system's trees are taken along
// where they are. `image` may be null.
Result<std::vector<os::IoLimit>> io_limits(const JudgedPlan& plan, const Sources& sources,
                                           const DiskImage* image);

}  // namespace cordon::launcher
