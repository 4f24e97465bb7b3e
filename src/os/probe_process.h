// SPDX-License-Identifier: Apache-2.0
// The experiment with processes held by descriptor. It runs in a trial.
#pragma once

#include "os/probe_trial.h"

namespace cordon::os {

// A child is cloned with its pidfd, signalled, seen to end and reaped through it alone.
Fact probe_pidfd(const TrialLimit& limit);

}  // namespace cordon::os
