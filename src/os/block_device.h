// SPDX-License-Identifier: Apache-2.0
// Which disk a file lies on.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

struct BlockDevice {
  unsigned major = 0;
  unsigned minor = 0;
  friend auto operator<=>(const BlockDevice&, const BlockDevice&) = default;
};

// The whole disk, never a partition of it: control groups know whole disks. `not_found`: the file
// system lies on no device, or on several (memory, network, overlay, btrfs).
Result<BlockDevice> block_device_of(const Fd& file);

// Some disk of this host, for experiments.
Result<BlockDevice> any_block_device();

}  // namespace cordon::os
