// SPDX-License-Identifier: Apache-2.0
// Whether an engine works here: found out by a real sandbox behind it, not by its version.
#pragma once

#include <string>

#include "launcher/launch.h"
#include "record/host_facts.h"

namespace cordon::launcher {

struct EngineTrial {
  Fact fact;             // `limited`: works, without what the detail names
  std::string platform;  // by which it runs programs; empty: it does not
  bool traces = false;   // it tells what they do
};

// Takes a fraction of a second where it works, and no longer than a few where it hangs.
EngineTrial try_gvisor(Workshop& workshop);
// A machine, with the processor's help and then without. `platform`: by which it works.
EngineTrial try_machine(Workshop& workshop);

}  // namespace cordon::launcher
