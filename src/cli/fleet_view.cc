// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_view.h"

#include <algorithm>
#include <set>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "cli/fleet_words.h"
#include "cli/node_words.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

std::optional<bool> truth_at(const json::value& object, std::string_view name) {
  const json::value* const found =
      object.is_object() ? object.get_object().if_contains(name) : nullptr;
  return found != nullptr && found->is_bool() ? std::optional{found->get_bool()} : std::nullopt;
}

std::string name_of(const json::value& json) {
  const auto cell = number_at(json, "cell");
  const auto node = number_at(json, "node");
  return cell && node ? fmt::format("{}.{}", *cell, *node) : text_at(json, "name");
}

template <class Wanted>
std::vector<FleetNode> those(const FleetView& view, Wanted wanted) {
  std::vector<FleetNode> found;
  std::ranges::copy_if(view.nodes, std::back_inserter(found), wanted);
  return found;
}

bool is_dead(const FleetNode& node) { return node.standing == "dead"; }
// What was drained was taken out of service, and may go.
bool is_lost(const FleetNode& node) { return is_dead(node) && !node.is_draining; }
bool lost_lease(const FleetNode& node) {
  return !is_dead(node) && !node.is_draining && !node.has_lease.value_or(true);
}
bool is_silent(const FleetNode& node) {
  return node.standing == "kept" && !node.is_draining && node.has_lease.value_or(false);
}

std::string are(std::size_t count, std::string_view rest) {
  return fmt::format("{} {}", count_words(count, "node"), rest);
}

void of_gateways(const std::vector<GatewayState>& gateways, std::vector<Trouble>& troubles) {
  for (const GatewayState& gateway : gateways) {
    if (gateway.status == "serving") continue;
    const bool is_away = gateway.status.empty();
    troubles.push_back(
        {.what = fmt::format("the gateway at {} {}", terminal::printable(gateway.address),
                             is_away ? "does not answer" : "is ending"),
         .next = is_away ? "start cordon-gateway there, and see what it logs"
                         : "ask another one; if nobody ends it, see what it logs"});
  }
}

void of_leases(const FleetView& view, std::vector<Trouble>& troubles) {
  for (const std::uint64_t cell : cells_of(view)) {
    if (!is_frozen(view, cell)) continue;
    const auto lost = those(
        view, [cell](const FleetNode& node) { return node.cell == cell && lost_lease(node); });
    troubles.push_back(
        {.what =
             fmt::format("cell {} is frozen, {} of its {} without lease: its etcd was away, or "
                         "still is",
                         cell, lost.size(), count_words(sums_of(view.nodes, cell).nodes, "node")),
         .next = "etcdctl endpoint health, for the members that gateway.toml names for the cell; "
                 "nodes that answer take new sandboxes meanwhile"});
  }
  const auto lost = those(view, [&view](const FleetNode& node) {
    return lost_lease(node) && !is_frozen(view, node.cell);
  });
  if (lost.empty()) return;
  troubles.push_back(
      {.what = are(lost.size(), "without lease: ") + names_words(lost),
       .next = "cordon-registrar is not running beside it, or etcd is away: systemctl status "
               "cordon-registrar, there"});
}

void of_nodes(const FleetView& view, std::vector<Trouble>& troubles) {
  if (const auto dead = those(view, is_lost); !dead.empty()) {
    troubles.push_back(
        {.what = are(dead.size(), "dead, what was there is lost: ") + names_words(dead),
         .next = "start cordond and cordon-registrar there again; what never comes back is "
                 "forgotten by a gateway that starts without the file map in its state"});
  }
  if (const auto silent = those(view, is_silent); !silent.empty()) {
    troubles.push_back(
        {.what = are(silent.size(), "with a lease and without an answer: ") + names_words(silent),
         .next = "see that cordond runs there (systemctl status cordond), and that this gateway "
                 "reaches its address"});
  }
}

void of_room(const FleetView& view, std::vector<Trouble>& troubles) {
  const FleetSums sums = sums_of(view.nodes);
  if (sums.nodes == 0) {
    troubles.push_back({.what = "no node is known",
                        .next = "start cordon-registrar beside each cordond, and see that "
                                "gateway.toml names their cells"});
  } else if (sums.placeable == 0) {
    troubles.push_back({.what = "no node takes new sandboxes",
                        .next = sums.draining == 0
                                    ? "mend what is said above"
                                    : "let a node that is drained go on: cordon node resume NODE"});
  } else if (sums.free == 0) {
    troubles.push_back({.what = "no slot is free: creates are refused",
                        .next = "add nodes, or end sandboxes: cordon ps, cordon kill"});
  }
}

// What somebody took back is as somebody wanted it.
bool was_stopped(const PolicyView& policy) {
  return policy.stage == "stopped" && !policy.why.starts_with("taken back by ");
}

void of_policy(const PolicyView& policy, std::vector<Trouble>& troubles) {
  if (was_stopped(policy)) {
    troubles.push_back(
        {.what = fmt::format("release {} of the policy was stopped: {}", policy.release,
                             terminal::printable(policy.why)),
         .next = fmt::format("all nodes go on by {}; mend it, and push it anew: cordon fleet "
                             "policy push",
                             release_words(policy.before))});
    return;
  }
  std::string names;
  std::size_t count = 0;
  for (const PolicyView::Node& node : policy.nodes) {
    const bool is_other = node.is_present && node.meant != node.release && node.refused != 0 &&
                          node.refused == node.meant;
    if (!is_other) continue;
    ++count;
    names += (names.empty() ? "" : ", ") + terminal::printable(node.name);
  }
  if (count == 0) return;
  troubles.push_back(
      {.what = are(count, fmt::format("that cannot take release {} of the policy: {}",
                                      policy.release, names)),
       .next = "cordon fleet policy show says why; they go on by what they had"});
}

}  // namespace

PolicyView read_policy(const json::value& json) {
  PolicyView view{.stage = text_at(json, "stage"),
                  .release = number_at(json, "release").value_or(0),
                  .before = number_at(json, "before").value_or(0),
                  .why = text_at(json, "why"),
                  .words = text_at(json, "words"),
                  .nodes = {}};
  for (const json::value& each : list_at(json, "nodes")) {
    view.nodes.push_back({.name = text_at(each, "node"),
                          .is_present = truth_at(each, "present").value_or(false),
                          .meant = number_at(each, "meant").value_or(0),
                          .release = number_at(each, "release").value_or(0),
                          .refused = number_at(each, "refused").value_or(0),
                          .why = text_at(each, "why")});
  }
  return view;
}

std::string state_of(const FleetNode& node) {
  return node.is_draining && !is_dead(node) ? "draining" : node.standing;
}

FleetNode read_fleet_node(const json::value& json) {
  FleetNode node{.name = name_of(json),
                 .address = text_at(json, "address"),
                 .standing = text_at(json, "standing"),
                 .has_lease = truth_at(json, "has_lease"),
                 .cell = number_at(json, "cell").value_or(0),
                 .start = number_at(json, "start").value_or(0),
                 .slots = number_at(json, "slots"),
                 .free = number_at(json, "free"),
                 .sandboxes = number_at(json, "sandboxes"),
                 .is_draining = truth_at(json, "draining").value_or(false)};
  const bool is_counted = node.slots && node.free && !node.is_draining && !node.sandboxes;
  if (is_counted) node.sandboxes = *node.slots > *node.free ? *node.slots - *node.free : 0;
  return node;
}

FleetView read_fleet(const json::value& json) {
  FleetView view{.revocations = number_at(json, "revocations")};
  for (const json::value& each : list_at(json, "nodes")) {
    view.nodes.push_back(read_fleet_node(each));
  }
  for (const json::value& each : list_at(json, "cells")) {
    view.cells.push_back({.number = number_at(each, "cell").value_or(0),
                          .is_frozen = truth_at(each, "frozen").value_or(false)});
  }
  return view;
}

FleetNode read_single_node(const json::value& json, std::string address) {
  FleetNode node = read_fleet_node(json);
  node.address = std::move(address);
  node.standing = node.is_draining ? "kept" : "placeable";
  // A slot is taken before the sandbox is there.
  const std::uint64_t slots = node.slots.value_or(0);
  const std::uint64_t free = node.free.value_or(0);
  const std::uint64_t taken = slots > free ? slots - free : 0;
  node.sandboxes = std::max(node.sandboxes.value_or(0), taken);
  return node;
}

FleetSums sums_of(const std::vector<FleetNode>& nodes, std::optional<std::uint64_t> cell) {
  FleetSums sums;
  for (const FleetNode& node : nodes) {
    if (cell && node.cell != *cell) continue;
    ++sums.nodes;
    const std::string state = state_of(node);
    if (state == "dead") {
      ++sums.dead;
      continue;
    }
    sums.slots += node.slots.value_or(0);
    if (state == "placeable") {
      ++sums.placeable;
      sums.free += node.free.value_or(0);
    } else if (state == "draining") {
      ++sums.draining;
    } else {
      ++sums.kept;
    }
  }
  return sums;
}

std::vector<std::uint64_t> cells_of(const FleetView& view) {
  std::set<std::uint64_t> cells;
  for (const FleetNode& node : view.nodes) cells.insert(node.cell);
  return {cells.begin(), cells.end()};
}

bool is_frozen(const FleetView& view, std::uint64_t cell) {
  const auto found = std::ranges::find(view.cells, cell, &FleetCell::number);
  return found != view.cells.end() && found->is_frozen;
}

std::vector<Trouble> troubles_of(const FleetView& view, const std::vector<GatewayState>& gateways) {
  std::vector<Trouble> troubles;
  of_nodes(view, troubles);
  of_leases(view, troubles);
  of_room(view, troubles);
  if (view.policy) of_policy(*view.policy, troubles);
  of_gateways(gateways, troubles);
  return troubles;
}

}  // namespace cordon::cli
