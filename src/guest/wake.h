// SPDX-License-Identifier: Apache-2.0
// What a machine is told so that it is no other one.
#pragma once

#include "base/result.h"
#include "frame/guest.h"
#include "os/fd.h"

namespace cordon::guest {

// Random numbers, the clock, the name and the network, in this order. Before: nothing has drawn a
// random number that matters. `random`: os::open_random.
Status become_unlike_others(const frame::Wake& wake, const os::Fd& random);

}  // namespace cordon::guest
