// SPDX-License-Identifier: Apache-2.0
// The sandbox's file tree inside a machine: what the host serves, with a /proc and a /dev of the
// machine's own kernel.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::guest {

// Gives what the kernel asks for files with (FUSE); see carry_files.h.
Result<os::Fd> mount_tree();

// Makes /dev and /proc beside the tree, and allows nobody another namespace: all of it that can be
// done before it is known whose machine this is. Before: a fresh pid and mount namespace.
Status stage_machine_tree();

// The tree with both in it becomes "/", and the caller what pid 1 of any sandbox is: an id of its
// own and few capabilities. Before: stage_machine_tree, and somebody carries.
Status enter_machine_tree(bool shared_memory);

}  // namespace cordon::guest
