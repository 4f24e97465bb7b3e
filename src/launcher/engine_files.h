// SPDX-License-Identifier: Apache-2.0
// Programs of the host that an engine is made of, and the small file systems of its own.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// Opens a program, or a file that one is to run. `unavailable`: it is not there, is no file, or as
// root would be what somebody else can write.
Result<os::Fd> open_trusted(const std::string& path, int flags);
// A read-only copy of its mount, to be put into another tree.
Result<os::Fd> detach_program(const os::Fd& file);

Result<os::Fd> make_small_tmpfs();
// A /proc of the caller's pid namespace, nowhere yet. Before: the caller sees a whole one.
Result<os::Fd> make_fresh_proc();

// Makes `path` the root of the caller's mount namespace, which is its own.
Status become_root(const char* path);

}  // namespace cordon::launcher
