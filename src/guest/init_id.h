// SPDX-License-Identifier: Apache-2.0
// Pid 1 where it was started as root, which no workload may meet: it takes the id that is its own.
#pragma once

#include "base/result.h"

namespace cordon::guest {

// What was permitted stays so, and is no longer in effect.
Status take_init_id();

// The same; what was permitted is in effect again, and no exec passes it on.
Status leave_root();

}  // namespace cordon::guest
