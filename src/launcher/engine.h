// SPDX-License-Identifier: Apache-2.0
// What stands between a workload and the host's kernel where fences alone are not enough, and how
// it comes to run: as a child of pid 1, in namespaces and with ids of the sandbox's own.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "frame/launch_plan.h"
#include "launcher/descent.h"
#include "launcher/machine.h"
#include "launcher/pins.h"
#include "os/fd.h"
#include "os/file.h"

namespace cordon::launcher {

// Of one sandbox, made by the launcher before its child exists.
struct EngineParts {
  os::Fd program;     // runsc, a detached mount of the file
  os::Fd init;        // cordon-init, the same
  os::Fd relay;       // cordon-relay, to be executed
  os::Pipe to_guest;  // its ends are the relay's and the engine's
  os::Pipe from_guest;
  os::Pipe words;  // what the engine says of itself
  std::optional<MachineParts> machine;
};

// `path`: of runsc, as the floor names it. `unavailable`: it is not there, or as root would run
// what somebody else can write. `denied`: it is not what the floor has pinned.
Result<EngineParts> open_gvisor(const std::string& path, Pins& pins);
// What the plan's engine is made of, as the floor names it.
Result<EngineParts> open_engine(const frame::LaunchPlan& plan, const Floor& floor, Pins& pins);

// Steps of the descent of a sandbox behind gVisor, in this order.
Status enter_engine_network(Descent& descent);
Status build_engine_tree(Descent& descent);
// After the sandbox's user namespace was entered. The caller becomes the relay then.
Status start_engine(Descent& descent);
Status place_relay_descriptors(Descent& descent);

}  // namespace cordon::launcher
