// SPDX-License-Identifier: Apache-2.0
// The ids of the calling process: all three of each kind at once, so that none is left to go back
// to.
#pragma once

#include <span>
#include <sys/types.h>

#include "base/result.h"

namespace cordon::os {

// Real, effective and saved id become `uid`. A change clears the parent death signal and makes the
// process not dumpable or dumpable as the system says: set both anew afterwards.
Status set_user(uid_t uid);
Status set_group(gid_t gid);

// Exactly these supplementary groups. `denied` in a user namespace where setgroups is denied.
Status set_groups(std::span<const gid_t> groups);

}  // namespace cordon::os
