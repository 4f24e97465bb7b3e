// SPDX-License-Identifier: Apache-2.0
// A guest's stream passes from one node to the next.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// Makes a new stream, gives one end to the guest and puts the other in the place of `control`. What
// a node that died left half written or half read on the old one is of no meaning then, and whoever
// still holds a copy of that speaks to nobody. Never waits. `unavailable`: the guest does not read,
// or is gone; `control` stays.
Status hand_over(os::Fd& control);

}  // namespace cordon::launcher
