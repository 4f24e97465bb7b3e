// SPDX-License-Identifier: Apache-2.0
// Watches a path, in a child of the spawner: with the workload's rights, behind its fences.
#pragma once

#include "frame/guest.h"
#include "os/fd.h"

namespace cordon::guest {

// Writes WatchBegun, WatchEvents and at last WatchEnded, as frames with the number 0, to `answer`;
// returns when what is watched is gone, or nobody reads any more.
void watch(const frame::StartWatch& wanted, const os::Fd& answer);
void refuse_watch(int error_number, const os::Fd& answer);

}  // namespace cordon::guest
