// SPDX-License-Identifier: Apache-2.0
// cordon fleet status: how gateways and nodes are, what is wrong, and what to do next.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/fleet_client.h"
#include "cli/fleet_verbs.h"
#include "cli/fleet_words.h"
#include "cli/node_words.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

struct StatusFlags {
  NodeOptions node;
  std::vector<std::string> gateways;  // beside that of --node
};

// One that ends answers too, with 503. Whoever is no gateway has no status.
GatewayState state_at(const NodeAddress& address, const Result<NodeAnswer>& health) {
  GatewayState state{.address = to_string(address)};
  if (!health) return state;
  state.status = text_at(health->json, "status");
  state.version = text_at(health->json, "version");
  return state;
}

void status(const StatusFlags& flags, Context& context) {
  std::vector<NodeAddress> others;
  for (const std::string& place : flags.gateways) {
    auto address = parse_node_address(place);
    if (!address) return fail_typed(context, address.error());
    others.push_back(*std::move(address));
  }
  const auto node = find_node(flags.node, context);
  if (!node) return fail(context, node.error());
  const auto health = ask_now(*node, {.path = "/v1/health"});
  if (!health) return fail(context, health.error());
  const auto fleet = ask_fleet(*node);
  if (!fleet) return fail(context, fleet.error());
  if (fleet->view.is_single) {
    return fail(context, {Errc::not_found,
                          fmt::format("at {} is no gateway, but a node by itself; cordon status is "
                                      "about it, and --node names a gateway",
                                      terminal::printable(to_string(node->address)))});
  }
  if (!fleet->answer.is_good()) return refuse(context, flags.node, fleet->answer);
  std::vector<GatewayState> gateways{state_at(node->address, health)};
  for (const NodeAddress& other : others) {
    gateways.push_back(state_at(other, ask_now({.address = other}, {.path = "/v1/health"})));
  }
  context.exit = troubles_of(fleet->view, gateways).empty() ? Exit::ok : Exit::no;
  if (!flags.node.json) {
    context.out << fleet_text(fleet->view, gateways);
    return;
  }
  context.out << boost::json::serialize(
                     fleet_json(fleet->view, gateways, list_at(fleet->answer.json, "nodes")))
              << '\n';
}

}  // namespace

void add_fleet(CLI::App& app, Context& context) {
  auto flags = std::make_shared<StatusFlags>();
  CLI::App* const group = app.add_subcommand("fleet", "Many nodes behind gateways: how they are");
  group->group(kNodeVerbs);
  group->require_subcommand(1);
  CLI::App* const verb = group->add_subcommand(
      "status", "says how gateways and nodes are, what is wrong, and what to do next");
  verb->add_option("GATEWAY", flags->gateways, "more gateways to look at, beside that of --node");
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] { status(*flags, context); });
  add_fleet_policy(*group, context);
  add_fleet_quota(*group, context);
  add_fleet_move(*group, context);
}

}  // namespace cordon::cli
