// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_words.h"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "cli/node_words.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

std::string number_words(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string lease_words(const FleetNode& node) {
  if (!node.has_lease) return "-";
  return *node.has_lease ? "yes" : "no";
}

std::string fact(std::string_view name, std::string_view words) {
  return fmt::format("{:<10} {}\n", name, words);
}

std::string gateway_words(const GatewayState& gateway) {
  const std::string address = terminal::printable(gateway.address);
  if (gateway.status.empty()) return address + ", does not answer";
  return fmt::format("{}, {}, cordon {}", address, terminal::printable(gateway.status),
                     terminal::printable(gateway.version));
}

// "4: 2 placeable, 1 draining, 1 dead"
std::string standings_words(const FleetSums& sums) {
  std::string words;
  const auto add = [&words](std::uint64_t count, std::string_view what) {
    if (count != 0) words += fmt::format("{}{} {}", words.empty() ? ": " : ", ", count, what);
  };
  add(sums.placeable, "placeable");
  add(sums.draining, "draining");
  add(sums.kept, "kept");
  add(sums.dead, "dead");
  return std::to_string(sums.nodes) + words;
}

std::string slots_words(const FleetSums& sums) {
  constexpr std::uint64_t kWhole = 100;
  if (sums.slots == 0) return "0";
  return fmt::format("{}: {} free ({} %)", sums.slots, sums.free, sums.free * kWhole / sums.slots);
}

std::string policy_words(const PolicyView& view) {
  if (view.stage == "none") return "each node by its own settings alone";
  if (view.stage == "whole") return fmt::format("release {} on all nodes", view.release);
  if (view.stage == "stopped") {
    return fmt::format("release {} was stopped, back to {}: {}", view.release,
                       release_words(view.before), terminal::printable(view.why));
  }
  return fmt::format("release {} is being rolled out ({}), behind {}", view.release,
                     terminal::printable(view.stage), release_words(view.before));
}

std::string cells_text(const FleetView& view) {
  std::vector<Row> rows{{"CELL", "NODES", "PLACEABLE", "SLOTS", "FREE", "FROZEN"}};
  for (const std::uint64_t cell : cells_of(view)) {
    const FleetSums sums = sums_of(view.nodes, cell);
    const std::string_view frozen = is_frozen(view, cell) ? "yes" : "no";
    rows.push_back({std::to_string(cell), std::to_string(sums.nodes),
                    std::to_string(sums.placeable), std::to_string(sums.slots),
                    std::to_string(sums.free),
                    std::string{view.cells.empty() ? std::string_view{"-"} : frozen}});
  }
  return table_text(rows);
}

json::array cells_json(const FleetView& view) {
  json::array cells;
  for (const std::uint64_t cell : cells_of(view)) {
    const FleetSums sums = sums_of(view.nodes, cell);
    json::object made{{"cell", cell},
                      {"nodes", sums.nodes},
                      {"placeable", sums.placeable},
                      {"slots", sums.slots},
                      {"free", sums.free}};
    if (!view.cells.empty()) made["frozen"] = is_frozen(view, cell);
    cells.push_back(std::move(made));
  }
  return cells;
}

}  // namespace

std::string count_words(std::uint64_t count, std::string_view what) {
  // "sandboxes": what ends in x takes another syllable.
  const std::string_view many = what.ends_with('x') ? "es" : "s";
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : many);
}

std::string names_words(const std::vector<FleetNode>& nodes) {
  constexpr std::size_t kMost = 8;
  std::string words;
  for (std::size_t i = 0; i < std::min(nodes.size(), kMost); ++i) {
    words += (i == 0 ? "" : ", ") + terminal::printable(nodes[i].name);
  }
  if (nodes.size() > kMost) words += fmt::format(" and {} more", nodes.size() - kMost);
  return words;
}

std::string node_words(const FleetNode& node) {
  const std::string words =
      fmt::format("{} {}", terminal::printable(node.name), terminal::printable(state_of(node)));
  return node.sandboxes ? words + ", " + count_words(*node.sandboxes, "sandbox") : words;
}

std::string nodes_text(const std::vector<FleetNode>& nodes) {
  std::vector<Row> rows{{"NODE", "STANDING", "SLOTS", "FREE", "LEASE", "START", "ADDRESS"}};
  for (const FleetNode& node : nodes) {
    rows.push_back({terminal::printable(node.name), terminal::printable(state_of(node)),
                    number_words(node.slots), number_words(node.free), lease_words(node),
                    std::to_string(node.start), terminal::printable(node.address)});
  }
  return table_text(rows);
}

std::string release_words(std::uint64_t release) {
  return release == 0 ? std::string{"their own settings"} : fmt::format("release {}", release);
}

std::string policy_text(const PolicyView& view) {
  std::string text = fact("policy", policy_words(view));
  for (const PolicyView::Node& node : view.nodes) {
    if (node.meant == node.release && node.refused != view.release) continue;
    std::string words =
        fmt::format("{} runs {}", terminal::printable(node.name), release_words(node.release));
    if (node.meant != node.release)
      words += fmt::format(", {} is meant", release_words(node.meant));
    if (!node.is_present) words += ", does not answer";
    if (node.refused != 0) {
      words += fmt::format("; refused release {}: {}", node.refused, terminal::printable(node.why));
    }
    text += fact("", words);
  }
  return text;
}

std::string fleet_text(const FleetView& view, const std::vector<GatewayState>& gateways) {
  const FleetSums sums = sums_of(view.nodes);
  std::string text;
  for (const GatewayState& gateway : gateways) text += fact("gateway", gateway_words(gateway));
  text += fact("nodes", standings_words(sums));
  text += fact("slots", slots_words(sums));
  if (view.revocations) text += fact("revoked", count_words(*view.revocations, "token"));
  if (view.policy) text += fact("policy", policy_words(*view.policy));
  if (!view.nodes.empty()) text += '\n' + cells_text(view);
  const std::vector<Trouble> troubles = troubles_of(view, gateways);
  text += '\n';
  if (troubles.empty()) return text + "all is well\n";
  for (const Trouble& trouble : troubles) {
    text += fmt::format("wrong  {}\n  next {}\n", trouble.what, trouble.next);
  }
  return text;
}

json::value fleet_json(const FleetView& view, const std::vector<GatewayState>& gateways,
                       const json::value& nodes) {
  const FleetSums sums = sums_of(view.nodes);
  const std::vector<Trouble> troubles = troubles_of(view, gateways);
  json::array of_gateways;
  for (const GatewayState& each : gateways) {
    of_gateways.push_back({{"address", each.address},
                           {"status", each.status.empty() ? "away" : each.status},
                           {"version", each.version}});
  }
  json::array wrong;
  for (const Trouble& each : troubles) {
    wrong.push_back({{"what", each.what}, {"next", each.next}});
  }
  json::object whole{{"well", troubles.empty()},
                     {"gateways", std::move(of_gateways)},
                     {"standings",
                      {{"placeable", sums.placeable},
                       {"draining", sums.draining},
                       {"kept", sums.kept},
                       {"dead", sums.dead}}},
                     {"slots", sums.slots},
                     {"free", sums.free},
                     {"cells", cells_json(view)},
                     {"nodes", nodes},
                     {"wrong", std::move(wrong)}};
  if (view.revocations) whole["revocations"] = *view.revocations;
  if (view.policy) {
    whole["policy"] = {{"stage", view.policy->stage},
                       {"release", view.policy->release},
                       {"before", view.policy->before},
                       {"why", view.policy->why}};
  }
  return whole;
}

}  // namespace cordon::cli
