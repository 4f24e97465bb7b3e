// SPDX-License-Identifier: Apache-2.0
// The workspace of a sandbox: the caller's directory, an overlay on it, or a part of the own disk;
// and what is pinned in it.
#pragma once

#include "base/result.h"
#include "frame/launch_plan.h"
#include "launcher/sources.h"
#include "os/fd.h"

namespace cordon::launcher {

// `disk` is the top of the own disk with its layout (root.cc). `tree` is what the workspace is made
// of, a detached mount: a directory of the own disk that is the workload's, or the caller's
// directory; `state` belongs to a review.
Status mount_workspace(const frame::Workspace& workspace, const os::Fd& root, const os::Fd& disk,
                       const os::Fd& tree, const os::Fd& state, const HostIds& ids);

}  // namespace cordon::launcher
