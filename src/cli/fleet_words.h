// SPDX-License-Identifier: Apache-2.0
// A fleet as a person reads it. Nothing in it can steer a terminal. (pure)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "cli/fleet_view.h"

namespace cordon::cli {

// "1 node", "2 nodes"
std::string count_words(std::uint64_t count, std::string_view what);
// "1.2, 1.7"; of many the first, and how many more there are.
std::string names_words(const std::vector<FleetNode>& nodes);
// "1.42 draining, 3 sandboxes"
std::string node_words(const FleetNode& node);

// "release 4", "their own settings"
std::string release_words(std::uint64_t release);
// How a release gets on, and which nodes do not run what is meant for them.
std::string policy_text(const PolicyView& view);

// A table: names, and a row for each node.
std::string nodes_text(const std::vector<FleetNode>& nodes);

// One screen, and the same for machines.
std::string fleet_text(const FleetView& view, const std::vector<GatewayState>& gateways);
// `nodes` are those of the gateway's answer.
boost::json::value fleet_json(const FleetView& view, const std::vector<GatewayState>& gateways,
                              const boost::json::value& nodes);

}  // namespace cordon::cli
