// SPDX-License-Identifier: Apache-2.0
// What @npm, @pip, @apt and @cargo stand for: read from the user's and the system's configuration
// of each tool, never from a file below the workspace.
#pragma once

#include <string>
#include <string_view>

#include "cli/verbs.h"
#include "policy/registries.h"

namespace cordon::cli {

// `workspace`: files below it are not read, also where the home itself is there. `system` is the
// directory that stands for `/` (tests pass their own).
policy::Registries look_up_registries(const Context& context, const std::string& workspace,
                                      const std::string& system = "/");

// The hosts of all http and https URLs in the values of the tool's keys: npm "registry", pip
// "index-url" and "extra-index-url", cargo "registry" and "index", apt's "deb" lines and "URIs".
// Pure.
std::vector<policy::RegistryHost> hosts_in_config(std::string_view tool, std::string_view text);

}  // namespace cordon::cli
