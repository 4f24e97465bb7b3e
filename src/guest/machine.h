// SPDX-License-Identifier: Apache-2.0
// Pid 1 of a virtual machine: from the kernel's first program to a guest in the sandbox's file
// tree.
#pragma once

namespace cordon::guest {

// Before: the kernel has started us from its initial file system, where /modules lies. Does not
// return: the machine ends with the guest.
[[noreturn]] void be_machine();

}  // namespace cordon::guest
