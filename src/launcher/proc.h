// SPDX-License-Identifier: Apache-2.0
// A /proc that shows the sandbox's own processes and nothing that tells of, or changes, the host.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// Mounts it at `root`/proc; `disk` holds what lies over the masked entries. Gives
// the directory of the limits of namespaces, still writable.
Result<os::Fd> mount_proc(const os::Fd& root, const os::Fd& disk);

// No namespace of any kind can be made by the user namespace that the caller is in, nor below it,
// whatever capabilities somebody has there. Before: `limits` as from mount_proc.
Status forbid_namespaces(const os::Fd& limits);

}  // namespace cordon::launcher
