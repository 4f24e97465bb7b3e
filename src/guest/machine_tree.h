// SPDX-License-Identifier: Apache-2.0
// The sandbox's file tree inside a machine: what the host serves, with a /proc and a /dev of the
// machine's own kernel.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::guest {

// Gives what the kernel asks for files with (FUSE); see carry_files.h.
Result<os::Fd> mount_tree();

// The tree with a /dev and a /proc of the machine's own in it becomes "/", nobody is allowed
// another namespace, and the caller becomes what pid 1 of any sandbox is: an id of its own and few
// capabilities. Of the tree nothing is asked but where these two are, which is told of every tree
// alike (files/tree_server.h): who begins as a machine that was saved has another one. Before: a
// fresh pid and mount namespace, and somebody carries.
Status enter_machine_tree();

}  // namespace cordon::guest
