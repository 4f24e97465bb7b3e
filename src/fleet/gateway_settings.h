// SPDX-License-Identifier: Apache-2.0
// What the operator of a gateway has decided: where it listens, which cells there are, and by what
// it proves who it is.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/etcd_settings.h"
#include "gate/listening.h"
#include "policy/problem.h"

namespace cordon::fleet {

struct GatewaySettings {
  std::string state = "/var/lib/cordon-gateway";  // its own directory: the last map
  std::string root_key;                           // the file of the key of all tokens
  gate::Listening listen{.unix_socket = "/run/cordon-gateway/gateway.sock"};
  std::vector<std::string> etcd;                            // members of the cluster of all cells
  IdentityFiles etcd_identity;                              // towards every cluster
  std::map<std::uint16_t, std::vector<std::string>> cells;  // members of the cluster of each
  IdentityFiles nodes;                                      // towards nodes
};

// TOML. All that is wrong goes to `problems`, each with its line; nothing is read that is not
// understood. Files that it names are not looked at.
Result<GatewaySettings> read_gateway_settings(std::string_view text, policy::Problems& problems);

}  // namespace cordon::fleet
