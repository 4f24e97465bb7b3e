// SPDX-License-Identifier: Apache-2.0
// A sandbox that is a virtual machine: QEMU with nothing but descriptors, and beside it who serves
// the sandbox's file tree to it. Neither can reach what the other has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launcher/descent.h"
#include "os/fd.h"
#include "os/socket.h"

namespace cordon::launcher {

// What QEMU needs of the host's programs: itself, its libraries and its firmware.
struct ShownTree {
  std::string path;
  os::Fd tree;  // detached, read-only
  bool directory = true;
};

// Of one sandbox, made by the launcher before its child exists.
struct MachineParts {
  std::vector<ShownTree> shown;
  os::Fd kernel;
  os::Fd initramfs;
  os::Fd server;           // cordon-files, to be executed
  os::SocketPair control;  // one: the relay's, two: QEMU's
  os::SocketPair files;    // one: the server's, two: QEMU's
  os::Fd kvm;              // a detached mount of the device; empty: translated
  std::uint64_t kilohertz = 0;
};

// `unavailable`: something is missing, or as root would run what somebody else can write.
Result<MachineParts> open_machine(const std::string& qemu, const std::string& directory, bool kvm);

// Steps of the descent of a sandbox that is a machine, in this order.
Status enter_machine_network(Descent& descent);
Status build_machine_trees(Descent& descent);
// After the sandbox's user namespace was entered. The caller becomes the relay then.
Status start_machine(Descent& descent);

}  // namespace cordon::launcher
