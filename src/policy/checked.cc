// SPDX-License-Identifier: Apache-2.0
// Builds the indexes of a checked document; answers what needs none.
#include "policy/checked.h"

#include <algorithm>

namespace cordon::policy {
namespace {

void add_patterns(PathPatterns& to, const std::vector<Stated<std::string>>& patterns) {
  for (std::uint32_t i = 0; i < patterns.size(); ++i) {
    const std::string& pattern = patterns[i].value;
    const bool anywhere = pattern.starts_with('/') || pattern.starts_with("**/");
    (anywhere ? to.anywhere : to.in_workspace).add(pattern, i);
  }
}

constexpr std::string_view kPassedByDefault[] = {"LANG", "LC_*", "TERM", "TZ"};

bool name_matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

void HostIndex::add(const HostPattern& host, std::uint32_t rule) {
  if (!host.is_block()) {
    (host.wildcard ? below : exact)[host.name].push_back(rule);
    return;
  }
  const std::uint32_t first = host.address.value_or(0);
  auto place = std::ranges::find_if(blocks, [&](const Block& block) {
    return block.bits < host.bits || (block.bits == host.bits && block.first == first);
  });
  if (place == blocks.end() || place->bits < host.bits) {
    place = blocks.insert(place, {first, host.bits, {}});
  }
  place->rules.push_back(rule);
}

CheckedDocument::CheckedDocument(PolicyDocument document, Origin origin)
    : document_{std::move(document)}, origin_{origin} {
  const Filesystem& filesystem = document_.filesystem;
  add_patterns(hide_, filesystem.hide.items);
  add_patterns(protect_, filesystem.protect.items);
  for (std::uint32_t i = 0; i < filesystem.host_mounts.items.size(); ++i) {
    mounts_.insert_or_assign(filesystem.host_mounts.items[i].target, i);
  }
  const Network& network = document_.network;
  for (std::uint32_t i = 0; i < network.egress_allowlist.items.size(); ++i) {
    const EgressRule& rule = network.egress_allowlist.items[i];
    url_paths_.emplace_back(rule.paths);
    if (!rule.host.name.empty()) allowed_.add(rule.host, i);
  }
  for (std::uint32_t i = 0; i < network.egress_denylist.items.size(); ++i) {
    denied_.add(network.egress_denylist.items[i].host, i);
  }
  for (const Grant& grant : document_.credentials.grants.items)
    grant_paths_.emplace_back(grant.paths);
  for (std::uint32_t i = 0; i < document_.tools.size(); ++i) {
    servers_.emplace(document_.tools[i].name, i);
    auto& conditions = conditions_.emplace_back();
    for (const ToolRule& rule : document_.tools[i].rules) {
      auto& condition = conditions.emplace_back();
      // parse() compiled it once already, so that it can be compiled.
      if (!rule.arguments.empty()) {
        if (auto compiled = ArgumentSchema::compile(rule.arguments))
          condition = *std::move(compiled);
      }
    }
  }
}

Decision CheckedDocument::decide_variable(std::string_view name) const {
  const Environment& environment = document_.environment;
  if (const auto set = std::ranges::find(environment.set.items, name, &Variable::name);
      set != environment.set.items.end()) {
    return {.effect = Effect::allow, .reason = Reason::variable_set, .place = set->place};
  }
  if (environment.pass.place) {
    for (const auto& pattern : environment.pass.items) {
      if (name_matches(pattern.value, name)) {
        return {.effect = Effect::allow, .reason = Reason::variable_passed, .place = pattern.place};
      }
    }
    return {.reason = Reason::variable_not_listed, .place = *environment.pass.place};
  }
  if (narrows_only()) return {.effect = Effect::allow, .reason = Reason::no_opinion};
  const bool passed = std::ranges::any_of(
      kPassedByDefault, [&](std::string_view p) { return name_matches(p, name); });
  if (passed) return {.effect = Effect::allow, .reason = Reason::variable_passed};
  return {.reason = Reason::variable_not_listed};
}

Decision CheckedDocument::decide_ingress(std::uint16_t port) const {
  const auto& ingress = document_.network.ingress;
  if (!ingress.place && narrows_only())
    return {.effect = Effect::allow, .reason = Reason::no_opinion};
  const auto listed = std::ranges::find_if(ingress.items, [&](const Port& each) {
    return each.value == port || each.value == kAnyPort;
  });
  if (listed == ingress.items.end()) {
    return {.reason = Reason::ingress_not_listed, .place = ingress.place.value_or(Place{})};
  }
  return {.effect = Effect::allow, .reason = Reason::ingress_port, .place = listed->place};
}

}  // namespace cordon::policy
