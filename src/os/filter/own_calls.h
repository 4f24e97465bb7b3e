// SPDX-License-Identifier: Apache-2.0
// From the lists of our own programs to their rules. Used by the generator and by tests only.
#pragma once

#include <vector>

#include "os/filter/own_filter.h"
#include "os/filter/table.h"

namespace cordon::os {

std::vector<RuledCall> own_calls(OwnProgram program);
FilterSpec own_spec(OwnProgram program);

}  // namespace cordon::os
