// SPDX-License-Identifier: Apache-2.0
// A system call that was made, told and judged afterwards: its name, and whether it was a filter
// that refused it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "os/filter/filter.h"

namespace cordon::os {

// "mount"; empty for a number that our table does not have.
std::string_view call_name(std::uint32_t number);

// The errno that `filter` answers the call with; 0: it lets it pass, or ends the process.
int refused_with(FilterProgram filter, std::uint32_t number,
                 const std::array<std::uint64_t, 6>& arguments);

}  // namespace cordon::os
