// SPDX-License-Identifier: Apache-2.0
// Empty file systems of one size each, made once and kept: copies of them become disk images.
#pragma once

#include "base/result.h"
#include "frame/launch_plan.h"
#include "os/fd.h"

namespace cordon::launcher {

// Opens kDisks, made where it is missing. `denied`: it belongs to somebody else than root. The
// floor lets no plan show it writable to a sandbox.
Result<os::Fd> open_disks();

// A template of exactly `disk.bytes` for files and at least `disk.inodes` of them: an ext4 without
// a journal, sparse. Read-only, shared by all who ask for the same size; never mounted itself.
Result<os::Fd> open_template(const os::Fd& disks, const frame::Disk& disk);

}  // namespace cordon::launcher
