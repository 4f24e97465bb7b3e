// SPDX-License-Identifier: Apache-2.0
// Experiments with the fences that a process puts around itself. Each runs in a trial.
#pragma once

#include "os/probe_trial.h"
#include "record/host_facts.h"

namespace cordon::os {

// A filter is loaded and a call gets the filter's answer instead of the kernel's.
Fact probe_seccomp();

// A call of a child waits for its supervisor and gets the supervisor's answer.
Fact probe_seccomp_notify(const TrialLimit& limit);

// A ruleset that handles every right of the kernel's ABI is made; then, under one that grants no
// writing, a file that could be written before cannot be, and can still be read.
Fact probe_landlock();

// The kernel's ABI number; 0 where there is none.
int probe_landlock_abi();

}  // namespace cordon::os
