// SPDX-License-Identifier: Apache-2.0
// A client's right in the words of one node: a token under that node's key, as narrow as what the
// client has shown (pure).
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/id.h"
#include "base/result.h"
#include "fleet/node_id.h"
#include "gate/gate.h"
#include "token/key.h"
#include "token/sandbox_name.h"

namespace cordon::fleet {

// For whom an operator acts.
inline constexpr std::string_view kTenantField = "Cordon-Tenant";

// A client's own token never reaches a node: whoever takes a node over learns nothing that another
// node would take.
class Reissue {
 public:
  // A stream is cut by the gateway when its client's right ends; this only bounds what is left of a
  // gateway that died.
  static constexpr std::chrono::hours kLongest{24};

  explicit Reissue(token::RootKey root) : root_{std::move(root)} {}

  // The same but for an end of our own whenever the same right is shown, so that a node counts a
  // budget of it in one account.
  Result<std::string> for_node(const gate::Bearer& bearer, NodeId node, WallTime now);
  // The same for the index of a cell.
  Result<std::string> for_index(const gate::Bearer& bearer, std::uint16_t cell, WallTime now);
  // The gateway's own: to ask a node how it is.
  Result<std::string> own(NodeId node, WallTime now);
  Result<std::string> own_to_index(std::uint16_t cell, WallTime now);

  // Where the sandbox lives; nothing: no node of ours has made that name.
  std::optional<NodeId> node_of(const SandboxId& id);

 private:
  struct NodeKey {
    token::AudienceKey key;
    token::SandboxNames names;
  };
  Result<NodeKey*> key_of(NodeId node);

  static constexpr std::size_t kMostKeys = 65'536;

  token::RootKey root_;
  std::map<NodeId, NodeKey> keys_;
  std::map<std::uint16_t, token::AudienceKey> index_keys_;
};

}  // namespace cordon::fleet
