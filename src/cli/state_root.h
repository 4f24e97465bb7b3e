// SPDX-License-Identifier: Apache-2.0
// Where Cordon keeps what outlives a run, for the caller.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/verbs.h"

namespace cordon::cli {

// $XDG_STATE_HOME/cordon, or ~/.local/state/cordon, or /var/lib/cordon where there is no home.
std::string state_root(const Context& context);

}  // namespace cordon::cli
