// SPDX-License-Identifier: Apache-2.0
#include "cli/state_root.h"

namespace cordon::cli {

std::string state_root(const Context& context) {
  if (const auto state = context.environment("XDG_STATE_HOME"); state && !state->empty()) {
    return *state + "/cordon";
  }
  if (const auto home = context.environment("HOME"); home && !home->empty()) {
    return *home + "/.local/state/cordon";
  }
  return "/var/lib/cordon";
}

}  // namespace cordon::cli
