// SPDX-License-Identifier: Apache-2.0
// A node of a fleet, and where its key stands.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::fleet {

// The same numbers as in the names of its sandboxes.
struct NodeId {
  std::uint16_t cell = 0;
  std::uint32_t node = 0;
  friend auto operator<=>(const NodeId&, const NodeId&) = default;
};

// "7.42", for people and messages.
std::string to_string(NodeId node);
// Nothing for a text that to_string does not make.
std::optional<NodeId> node_named(std::string_view text);

// "/cordon/cells/7/nodes/42": what the node alone may write. Below the prefix of its cell there is
// nothing else.
std::string key_of(NodeId node);
std::string nodes_of(std::uint16_t cell);
// Nothing for a key that key_of does not make: each node has one spelling.
std::optional<NodeId> node_of(std::string_view key);

}  // namespace cordon::fleet

template <>
struct std::hash<cordon::fleet::NodeId> {
  std::size_t operator()(cordon::fleet::NodeId id) const noexcept {
    return std::hash<std::uint64_t>{}(std::uint64_t{id.cell} << 32U | id.node);
  }
};
