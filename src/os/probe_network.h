// SPDX-License-Identifier: Apache-2.0
// The experiment with packet filters. It runs in a trial.
#pragma once

#include "os/probe_userns.h"

namespace cordon::os {

// In a network namespace of its own, made as a sandbox's is, a connection to somewhere arrives at
// our listener.
Fact probe_network_filter(const Caller& caller, const TrialLimit& limit);

}  // namespace cordon::os
