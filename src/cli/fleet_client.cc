// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_client.h"

#include "cli/node_words.h"

namespace cordon::cli {

bool is_no_route(const NodeAnswer& answer) {
  return answer.status == 404 && text_at(answer.json, "code") == "CORDON-API-NO-ROUTE";
}

Result<FleetAnswer> ask_fleet(const Node& node) {
  TRY(NodeAnswer all, ask_now(node, {.path = "/v1/fleet/nodes"}));
  if (all.is_good()) {
    FleetView view = read_fleet(all.json);
    // What is not told, by an earlier gateway or without etcd, is left out.
    const auto policy = ask_now(node, {.path = "/v1/fleet/policy"});
    if (policy && policy->is_good()) view.policy = read_policy(policy->json);
    return FleetAnswer{.answer = std::move(all), .view = std::move(view)};
  }
  if (!is_no_route(all)) return FleetAnswer{.answer = std::move(all), .view = {}};
  TRY(NodeAnswer one, ask_now(node, {.path = "/v1/node"}));
  FleetView view{.is_single = true};
  if (one.is_good()) view.nodes.push_back(read_single_node(one.json, to_string(node.address)));
  return FleetAnswer{.answer = std::move(one), .view = std::move(view)};
}

}  // namespace cordon::cli
