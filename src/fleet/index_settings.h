// SPDX-License-Identifier: Apache-2.0
// What the operator of a cell's index has decided: whose index it is, where gateways reach it, and
// by what it proves who it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/etcd_settings.h"
#include "gate/listening.h"
#include "policy/problem.h"

namespace cordon::fleet {

struct IndexSettings {
  std::uint16_t cell = 0;
  std::string address;                          // ADDRESS:PORT at which gateways reach it
  std::string state = "/var/lib/cordon-index";  // its own directory: the last map
  std::string root_key;                         // the file of the key of all tokens
  gate::Listening listen{.unix_socket = "/run/cordon-index/index.sock"};
  std::vector<std::string> members;  // of the cluster of its cell
  std::vector<std::string> etcd;     // of the cluster of all cells
  IdentityFiles etcd_identity;       // towards both
  IdentityFiles nodes;               // towards nodes
};

// TOML. All that is wrong goes to `problems`, each with its line; nothing is read that is not
// understood. Files that it names are not looked at.
Result<IndexSettings> read_index_settings(std::string_view text, policy::Problems& problems);

}  // namespace cordon::fleet
