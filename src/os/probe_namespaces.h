// SPDX-License-Identifier: Apache-2.0
// Experiments with namespaces and with the ids that can be mapped into them. Each runs in a trial.
#pragma once

#include "os/probe_userns.h"

namespace cordon::os {

// A user namespace is made, mapped and entered, and a right is used that only its root has: some
// hosts let everybody make one and then grant nothing in it.
Fact probe_user_namespaces(const Caller& caller, const TrialLimit& limit);

// More ids than the caller's own are mapped and one of them is taken: by root itself, by anybody
// else through newuidmap and newgidmap.
Fact probe_id_ranges(const Caller& caller, const TrialLimit& limit);

// Each of the other kinds is made inside a user namespace.
Fact probe_other_namespaces(const Caller& caller, const TrialLimit& limit);

}  // namespace cordon::os
