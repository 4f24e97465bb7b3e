// SPDX-License-Identifier: Apache-2.0
// A /dev with nothing in it that is not harmless.
#pragma once

#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

struct Device {
  const char* name;
  os::Fd tree;  // detached
};
using Devices = std::vector<Device>;

// null zero full random urandom tty, while the host's /dev can still be reached.
Result<Devices> open_devices();

// Fills `root`/dev: those, a pseudo-terminal file system of the sandbox's own, and links.
Status mount_devices(const os::Fd& root, const Devices& devices);

}  // namespace cordon::launcher
