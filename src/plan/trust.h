// SPDX-License-Identifier: Apache-2.0
// A sandbox that trusts one authority more: its own, which judges its requests.
#pragma once

#include <string>

#include "plan/lower.h"

namespace cordon::plan {

// `bundle`: a file of the host with all that is trusted inside. It appears at a path of our own,
// which the variables that clients look at name (those that the policy or the caller set stay as
// they are), and, where the root is the host's, in place of `system`, its own bundle; empty: there
// is none.
void add_authorities(Lowered& lowered, const std::string& bundle, const std::string& system);

// Variables that are added to every process; those that are there already stay.
void add_variable(Lowered& lowered, std::string_view name, std::string_view value);

}  // namespace cordon::plan
