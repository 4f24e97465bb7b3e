// SPDX-License-Identifier: Apache-2.0
// The switches of the calling process that prctl keeps.
#pragma once

#include "base/result.h"

namespace cordon::os {

// From here on no exec gains rights. It cannot be taken back and is inherited.
Status set_no_new_privs();
Result<bool> no_new_privs();

// The calling process gets `signal` when the *thread* that made it ends. Cleared by exec of a
// set-id program and by a change of ids, and void if the parent is gone already: check the parent
// afterwards.
Status set_parent_death_signal(int signal);

// A process that is not dumpable cannot be traced, and its /proc files belong to root. Exec and
// changes of ids set it anew.
Status set_dumpable(bool dumpable);

// Orphans below the calling process become its children instead of pid 1's.
Status set_child_subreaper(bool on);

// At most 15 bytes are kept.
Status set_process_name(const char* name);

}  // namespace cordon::os
