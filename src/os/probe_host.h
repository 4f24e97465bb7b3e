// SPDX-License-Identifier: Apache-2.0
// What this machine can enforce, found by trying it.
#pragma once

#include <chrono>

#include "record/host_facts.h"

namespace cordon::os {

struct ProbeOptions {
  // Of all experiments together, which run side by side; one that has no answer by then is
  // `blocked`. On an idle host they take about a fiftieth of it.
  std::chrono::milliseconds limit{2000};
};

// Runs every experiment with the rights of the caller: as root with what a service's launcher would
// use, else with what an ordinary user has. The host is as before afterwards: no process, mount,
// group or descriptor is left, also not when an experiment hangs or the caller is interrupted
// (signals wait until the end; SIGKILL cannot, and may leave an empty group). What this version
// does not try stays `not_probed`.
//
// Before: the caller has one thread, because the experiments are forked.
HostFacts probe_host(const ProbeOptions& options);

}  // namespace cordon::os
