// SPDX-License-Identifier: Apache-2.0
// What a gateway says of its nodes, or a node of itself, and what is wrong with it. (pure)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

namespace cordon::cli {

struct FleetNode {
  std::string name;  // "1.42"; of a node by itself what it is called
  std::string address;
  std::string standing;           // "placeable", "kept", "dead", or what a later gateway says
  std::optional<bool> has_lease;  // nothing: it is in no fleet
  std::uint64_t cell = 0;
  std::uint64_t start = 0;
  std::optional<std::uint64_t> slots;
  std::optional<std::uint64_t> free;
  std::optional<std::uint64_t> sandboxes;  // nothing: of one that drains only the node itself knows
  bool is_draining = false;
};

// "draining" where it takes nothing new because it was told so, else its standing.
std::string state_of(const FleetNode& node);

struct FleetCell {
  std::uint64_t number = 0;
  bool is_frozen = false;
};

// Of the fleet's policy, as GET /v1/fleet/policy tells it.
struct PolicyView {
  struct Node {
    std::string name;
    bool is_present = false;
    std::uint64_t meant = 0;    // the release for it; 0: none
    std::uint64_t release = 0;  // that it runs
    std::uint64_t refused = 0;  // that it could not take
    std::string why;
  };
  std::string stage;  // "none", "canary", "rolling", "whole", "stopped"
  std::uint64_t release = 0;
  std::uint64_t before = 0;
  std::string why;    // of "stopped"
  std::string words;  // of a step
  std::vector<Node> nodes;
};
PolicyView read_policy(const boost::json::value& json);

struct FleetView {
  std::vector<FleetNode> nodes;
  std::vector<FleetCell> cells;  // empty: the gateway does not tell
  std::optional<std::uint64_t> revocations;
  std::optional<PolicyView> policy{};  // nothing: it is not told
  bool is_single = false;              // a node by itself
};

// Of an object of GET /v1/fleet/nodes, and of the whole.
FleetNode read_fleet_node(const boost::json::value& json);
FleetView read_fleet(const boost::json::value& json);
// Of GET /v1/node, which `address` has answered.
FleetNode read_single_node(const boost::json::value& json, std::string address);

// Of some nodes. What is dead has no slots; what takes nothing new has none free.
struct FleetSums {
  std::uint64_t nodes = 0;
  std::uint64_t placeable = 0;
  std::uint64_t draining = 0;
  std::uint64_t kept = 0;
  std::uint64_t dead = 0;
  std::uint64_t slots = 0;
  std::uint64_t free = 0;
};
FleetSums sums_of(const std::vector<FleetNode>& nodes, std::optional<std::uint64_t> cell = {});
// The numbers of the cells that nodes are in.
std::vector<std::uint64_t> cells_of(const FleetView& view);
bool is_frozen(const FleetView& view, std::uint64_t cell);

// How a gateway is.
struct GatewayState {
  std::string address;
  std::string status;  // "serving", "draining"; empty: it does not answer
  std::string version;
};

struct Trouble {
  std::string what;
  std::string next;
};
// What is wrong, the worst first; none: all is well. A node that drains is not wrong.
std::vector<Trouble> troubles_of(const FleetView& view, const std::vector<GatewayState>& gateways);

}  // namespace cordon::cli
