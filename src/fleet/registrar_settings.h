// SPDX-License-Identifier: Apache-2.0
// What the operator has decided of the program beside a node that registers it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/etcd_settings.h"
#include "policy/problem.h"

namespace cordon::fleet {

struct RegistrarSettings {
  std::string node = "/run/cordond/cordond.sock";  // the node's own socket
  std::string address;                             // where gateways reach it
  std::vector<std::string> cell;                   // members of the cluster of its cell
  std::vector<std::string> all;                    // and of that of all cells
  IdentityFiles identity;                          // towards both
};

// TOML. All that is wrong goes to `problems`, each with its line.
Result<RegistrarSettings> read_registrar_settings(std::string_view text,
                                                  policy::Problems& problems);

}  // namespace cordon::fleet
