// SPDX-License-Identifier: Apache-2.0
// From the table to the rules of one profile. Used by the generator and by tests only.
#pragma once

#include <map>

#include "os/filter/filter.h"
#include "os/filter/table.h"

namespace cordon::os {

// The rows of a profile, by number: absent and unknown calls have none.
using ProfileTable = std::map<int, RuledCall>;

ProfileTable profile_table(FilterProfile profile);

// The same as the compiler takes it: ENOSYS for all else and for x32 numbers (C101, C102), death
// for other architectures (C100).
FilterSpec profile_spec(FilterProfile profile);

// True if some argument gets a call past the filter, or to the listener.
bool is_ever_allowed(const RuledCall& row);

// Changes the rows in place; see variants.cc.
void refuse_set_id_bits(ProfileTable& table);
void notify_of_intentions(ProfileTable& table);

}  // namespace cordon::os
