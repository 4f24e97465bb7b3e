// SPDX-License-Identifier: Apache-2.0
// What answers at --node about its nodes: a gateway, or a node by itself.
#pragma once

#include "cli/fleet_view.h"
#include "cli/node_client.h"

namespace CLI {
class App;
}

namespace cordon::cli {

// `drain` and `resume`, below `group`.
void add_node_changes(CLI::App& group, Context& context);
// `quota`, below `group`.
void add_fleet_quota(CLI::App& group, Context& context);

// `move`, below `group`.
void add_fleet_move(CLI::App& group, Context& context);
// What is asked of a gateway, without `to` for a node with room; and what it answers, in words.
NodeRequest move_request(const std::string& sandbox, const std::string& to);
std::string moved_words(const boost::json::value& report);

// "7.42"
bool is_node_name(std::string_view text);
Error no_name(std::string_view text);

// There is nothing at this path: of what only a gateway has, a node by itself says so.
bool is_no_route(const NodeAnswer& answer);

struct FleetAnswer {
  NodeAnswer answer;
  FleetView view;  // empty where `answer` is a refusal
};
// A node by itself is a fleet of one.
Result<FleetAnswer> ask_fleet(const Node& node);

}  // namespace cordon::cli
