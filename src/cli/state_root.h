// SPDX-License-Identifier: Apache-2.0
// Where the state of runs is kept.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/verbs.h"

namespace cordon::cli {

// $XDG_STATE_HOME/cordon, else $HOME/.local/state/cordon, else for root /var/lib/cordon. Values
// that are not absolute paths count as unset.
Result<std::string> state_root(const Context& context);

}  // namespace cordon::cli
