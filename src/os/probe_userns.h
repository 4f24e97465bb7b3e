// SPDX-License-Identifier: Apache-2.0
// An experiment inside a user namespace, made the way a launcher of this caller would make it.
#pragma once

#include <functional>
#include <sys/types.h>

#include "os/probe_identity.h"
#include "os/probe_trial.h"

namespace cordon::os {

// Called in a trial. Makes a child in a new user namespace, writes its id maps from outside, lets
// it become id 0 inside and runs `act` there. As root it gets a range of 65,536 ids that are
// nobody's, never host id 0; else the caller's own id alone.
Fact in_user_namespace(const Caller& caller, const Experiment& act, const TrialLimit& limit);

// The same with the maps written by `map` for the process that it is given.
using WriteMaps = std::function<Status(pid_t pid)>;
Fact in_user_namespace(const WriteMaps& map, const Experiment& act, const TrialLimit& limit);

// The maps that it writes.
Status write_trial_maps(const Caller& caller, pid_t pid);

// Where a service takes the ids of its trials from.
inline constexpr unsigned kTrialFirstId = 0x70000000;
inline constexpr unsigned kTrialIds = 65'536;

// Why the kernel refused a user namespace, from what usually forbids it, and what would allow it.
Fact userns_refused(const Error& error);

}  // namespace cordon::os
