// SPDX-License-Identifier: Apache-2.0
// A policy file, in whichever syntax, as the shortest JSON.
#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "policy/problem.h"

namespace cordon::cli {

// `text` of `file`. `invalid`: it is neither TOML nor JSON; what it says is not looked at.
Result<boost::json::value> policy_json(const std::string& file, const std::string& text,
                                       policy::Problems& problems);

}  // namespace cordon::cli
