// SPDX-License-Identifier: Apache-2.0
// The sandbox's file tree inside a machine: what the host serves, with a /proc and a /dev of the
// machine's own kernel.
#pragma once

#include "base/result.h"
#include "frame/guest.h"
#include "os/fd.h"

namespace cordon::guest {

// Gives what the kernel asks for files with (FUSE); see carry_files.h.
Result<os::Fd> mount_tree();

// It becomes "/", and the caller what pid 1 of any sandbox is: an id of its own and few
// capabilities. Before: a fresh pid and mount namespace, and somebody carries.
Status enter_machine_tree(const frame::Wake& wake);

}  // namespace cordon::guest
