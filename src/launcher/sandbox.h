// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "launcher/disk_image.h"
#include "launcher/egress.h"
#include "launcher/groups.h"
#include "launcher/identity.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::launcher {

// A sandbox as its launcher holds it: three descriptors (control, pidfd, the range's lock) and no
// more, because they are what bounds the number of sandboxes; a fourth where its disk is an image,
// and two where it has a network.
// Destroying it ends it: pid 1 is killed and reaped, with it everything in its pid namespace; then
// the groups go, then the disk, then the ids are free for the next, then its way out is closed.
struct Sandbox {
  std::optional<HeldNetwork> network;
  std::optional<LentRange> range;
  std::optional<DiskImage> disk;
  SandboxGroups groups;
  os::Child init;
  os::Fd control;         // the host's end of the stream; a copy is with the node
  os::Fd witness;         // the host's end of the way for filters' listeners, until it is sent
  std::uint64_t tag = 0;  // by which its launcher hears of its end
};

}  // namespace cordon::launcher
