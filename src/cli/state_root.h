// SPDX-License-Identifier: Apache-2.0
// Where the state of runs is kept, and apart from it what the caller's notary has.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/verbs.h"

namespace cordon::cli {

// $XDG_STATE_HOME/cordon, else $HOME/.local/state/cordon, else for root /var/lib/cordon. Values
// that are not absolute paths count as unset.
Result<std::string> state_root(const Context& context);
// $XDG_DATA_HOME/cordon/notary, else $HOME/.local/share/cordon/notary, else for root
// /var/lib/cordon-notary.
Result<std::string> notary_root(const Context& context);
// $XDG_DATA_HOME/cordon/NAME, else $HOME/.local/share/cordon/NAME.
Result<std::string> data_root(const Context& context, const std::string& name);

}  // namespace cordon::cli
