// SPDX-License-Identifier: Apache-2.0
// Runs a child under a filter whose watched calls stop at their entry, and answers them.
#pragma once

#include <sys/types.h>

#include "masks.h"

namespace cordon::mask {

// In the child, once its tracer has told it to go on: makes the watched calls stop. False: errno.
bool load_filter(const Masks& masks);

// Takes hold of `child`, which waits. All that it starts is held too, and dies with us.
bool seize(pid_t child);

// Serves until `child` ends; its exit code, or 128 and the signal that ended it.
int serve(const Masks& masks, pid_t child);

}  // namespace cordon::mask
