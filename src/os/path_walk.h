// SPDX-License-Identifier: Apache-2.0
// What openat2 with RESOLVE_BENEATH does, for kernels that have no openat2 (gVisor's): one
// component after the other, each directory held by its descriptor.
#pragma once

#include "base/result.h"
#include "os/fd.h"
#include "os/openat2.h"

namespace cordon::os {

// As open_beneath, in a sandbox whose kernel has none; what is built on the host needs the kernel's
// own. Nobody who renames or replaces a component meanwhile leads it out: `..` goes
// back to the directory that it came through, and no link is followed but by reading it.
Result<Fd> walk_beneath(const Fd& root, const char* path, const OpenHow& how);

}  // namespace cordon::os
