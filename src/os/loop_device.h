// SPDX-License-Identifier: Apache-2.0
// A file as a block device, for as long as somebody uses it.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

struct LoopDevice {
  Fd device;         // keeps it attached until something is mounted from it
  std::string path;  // "/dev/loop3"
  unsigned major = 0;
  unsigned minor = 0;
};

// Attaches `file` to a device that nobody uses. With its last user, this descriptor or a mount, the
// kernel takes it off again and lets go of the file, however its users ended. Blocks are of 4 KiB;
// where the file's filesystem can, they pass by its page cache. Needs root.
Result<LoopDevice> attach_loop(const Fd& file);

}  // namespace cordon::os
