// SPDX-License-Identifier: Apache-2.0
// Experiments with mounts and paths, in mount namespaces of their own. Each runs in a trial.
#pragma once

#include "os/probe_userns.h"

namespace cordon::os {

// A file system is made out of sight, put in place, copied and made read-only, all by descriptor
// and inside a user namespace; the copy must then refuse a write.
Fact probe_mount_api(const Caller& caller, const TrialLimit& limit);

// An overlay is mounted inside a user namespace: writes and removals must stay in its upper layer.
Fact probe_overlay(const Caller& caller, const TrialLimit& limit);

// The host's root file system is copied with shifted ids: its files must show them.
Fact probe_idmapped_mounts(const Caller& caller, const TrialLimit& limit);

// A path beneath a directory opens, one that leads out of it does not.
Fact probe_openat2();

}  // namespace cordon::os
