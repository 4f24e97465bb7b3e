// SPDX-License-Identifier: Apache-2.0
// What a launcher prepares before its first sandbox.
#pragma once

#include "base/result.h"
#include "launcher/floor_file.h"
#include "launcher/launch.h"
#include "os/fd.h"

namespace cordon::launcher {

// In local use. Before: the caller has one thread. Without root it enters a user namespace of its
// own, says so on `node` (one byte) and goes on when the node, having written the maps, has
// answered. After: a mount namespace of its own, which receives the host's mounts and gives none.
Result<Workshop> open_workshop(const os::Fd& node);

// As a service: only for root, with the floor that root wrote.
Result<Workshop> open_workshop(const ServiceFloor& floor);

}  // namespace cordon::launcher
