// SPDX-License-Identifier: Apache-2.0
// What @npm, @pip, @apt and @cargo stand for on this machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cordon::policy {

struct RegistryHost {
  std::string host;  // as parse_host_pattern reads it, without a wildcard
  std::uint16_t port = 443;
  friend bool operator==(const RegistryHost&, const RegistryHost&) = default;
};

// Looked up by the caller (the command line: the user's and the system's configuration of each
// tool; the daemon: its own), never from a file below the workspace. A symbol that is not here
// allows nothing.
using Registries = std::map<std::string, std::vector<RegistryHost>>;

}  // namespace cordon::policy
