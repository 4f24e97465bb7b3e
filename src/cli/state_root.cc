// SPDX-License-Identifier: Apache-2.0
#include "cli/state_root.h"

#include <unistd.h>

namespace cordon::cli {

Result<std::string> state_root(const Context& context) {
  const auto path_in = [&](const char* name) {
    auto value = context.environment(name);
    return value && value->starts_with('/') ? *std::move(value) : std::string{};
  };
  if (const std::string state = path_in("XDG_STATE_HOME"); !state.empty()) return state + "/cordon";
  if (const std::string home = path_in("HOME"); !home.empty()) {
    return home + "/.local/state/cordon";
  }
  if (::geteuid() == 0) return std::string{"/var/lib/cordon"};
  return Error{Errc::not_found, "neither XDG_STATE_HOME nor HOME is an absolute path"};
}

}  // namespace cordon::cli
