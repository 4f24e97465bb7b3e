// SPDX-License-Identifier: Apache-2.0
// From the name of a filter profile to its program: the one place where the guest asks for it.
#pragma once

#include <linux/filter.h>
#include <span>
#include <string_view>

#include "base/result.h"

namespace cordon::guest {

using FilterLookup = Result<std::span<const sock_filter>> (*)(std::string_view name);

// Of the profiles that the program was built with. `not_found`: there is none of that name.
Result<std::span<const sock_filter>> find_filter(std::string_view name);

}  // namespace cordon::guest
