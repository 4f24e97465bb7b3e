// SPDX-License-Identifier: Apache-2.0
// The variables that a program sees: `[environment]`, and the few that no program can do without.
#pragma once

#include <string>
#include <vector>

#include "plan/identity.h"
#include "plan/request.h"

namespace cordon::plan {

// NAME=value, by name. Of the caller's variables those that every document passes; `set` goes
// before them, and the first document that sets a name wins. A workspace file sets only what nobody
// else gives a value: it narrows.
// `image`: NAME=value, that an image asks for.
std::vector<std::string> environment_of(const Request& request, const Identity& identity,
                                        const std::vector<std::string>& image = {});

}  // namespace cordon::plan
