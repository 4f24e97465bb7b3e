// SPDX-License-Identifier: Apache-2.0
// The first frame to a machine.
#pragma once

#include "base/result.h"
#include "frame/launch_plan.h"
#include "os/fd.h"

namespace cordon::launcher {

// Tells it what makes it no other one: random bytes, the time, its name.
Status wake(const os::Fd& control, const frame::LaunchPlan& plan);

}  // namespace cordon::launcher
