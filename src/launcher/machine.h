// SPDX-License-Identifier: Apache-2.0
// A sandbox that is a virtual machine: QEMU with nothing but descriptors, and beside it who serves
// the sandbox's file tree to it. Neither can reach what the other has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launcher/descent.h"
#include "launcher/machine_templates.h"
#include "launcher/pins.h"
#include "launcher/qemu.h"
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
  os::SocketPair monitor;  // one: the relay's, two: QEMU's; where it is saved or loaded
  MachineStart start = MachineStart::cold;
  os::Fd memory;  // of one that is saved or loaded
  os::Fd state;   // the same
  os::Fd kvm;     // a detached mount of the device; empty: translated
  std::uint64_t kilohertz = 0;
};

// `unavailable`: something is missing, or as root would run what somebody else can write. `denied`:
// it is not what the floor has pinned.
Result<MachineParts> open_machine(const std::string& qemu, const std::string& directory, bool kvm,
                                  Pins& pins);

// It will be saved: its memory and state are the parts' own then, and outlive it.
Status prepare_to_save(MachineParts& parts, std::uint64_t memory);
// It begins as that one.
Status prepare_to_load(MachineParts& parts, const MachineTemplate& saved);

// Steps of the descent of a sandbox that is a machine, in this order.
Status enter_machine_network(Descent& descent);
Status build_machine_trees(Descent& descent);
// After the sandbox's user namespace was entered. The caller becomes the relay then.
Status start_machine(Descent& descent);

}  // namespace cordon::launcher
