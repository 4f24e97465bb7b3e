// SPDX-License-Identifier: Apache-2.0
// Having a machine ready for others to begin as.
#pragma once

#include <chrono>

#include "base/result.h"
#include "frame/launch_plan.h"
#include "launcher/launch.h"

namespace cordon::launcher {

// A template of such machines, for this launcher and for those to come: unless there is one, one is
// started and saved, which takes as long as a start. `exhausted`: as many sizes as are kept have
// one.
Status save_like(Workshop& workshop, const frame::Machine& machine, std::chrono::seconds patience);

// How long a start may take.
std::chrono::seconds patience_with(const frame::Machine& machine);

}  // namespace cordon::launcher
