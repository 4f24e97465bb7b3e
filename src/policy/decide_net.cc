// SPDX-License-Identifier: Apache-2.0
// Decisions over hosts, methods and paths, and over the credentials that go to them.
#include <algorithm>

#include "policy/checked.h"

namespace cordon::policy {
namespace {

bool lists(const std::vector<std::string>& methods, std::string_view method) {
  return methods.empty() || std::ranges::find(methods, method) != methods.end();
}

// Reached by no rule: names of the sandbox itself, loopback, link-local and the like.
bool is_out_of_reach(std::string_view host, std::optional<std::uint32_t> address) {
  if (address) return kind_of(*address) == AddressKind::forbidden;
  return host == "localhost" || host.ends_with(".localhost");
}

}  // namespace

NetworkMode CheckedDocument::network_mode() const {
  const Network& network = document_.network;
  if (network.mode) return network.mode->value;
  const bool asks = network.ask && network.ask->value;
  const bool names_something =
      asks || !network.egress_allowlist.items.empty() || !network.host_ports.items.empty();
  return names_something ? NetworkMode::restricted : NetworkMode::none;
}

// A workspace file may turn the network off, name the hosts that stay, or refuse some.
bool CheckedDocument::is_silent_on_network() const {
  const Network& network = document_.network;
  return narrows_only() && !network.mode && !network.egress_allowlist.place;
}

bool CheckedDocument::has_rule_on(const std::vector<std::uint32_t>& rules,
                                  std::uint16_t port) const {
  return std::ranges::any_of(rules, [&](std::uint32_t i) {
    return document_.network.egress_allowlist.items[i].port == port;
  });
}

const std::vector<std::uint32_t>* CheckedDocument::rules_for(std::string_view host,
                                                             std::uint16_t port) const {
  return allowed_.find(host, [&](const auto& rules) { return has_rule_on(rules, port); });
}

Decision CheckedDocument::decide_listed(const NetQuery& query,
                                        const std::vector<std::uint32_t>& rules) const {
  // All rules of one pattern allow; the furthest that any of them went is the explanation.
  Decision nearest{.reason = Reason::method_not_listed};
  for (const std::uint32_t i : rules) {
    const EgressRule& rule = document_.network.egress_allowlist.items[i];
    if (rule.port != query.port) continue;
    if (nearest.place.mark.line == 0) nearest.place = rule.place;
    const bool judged = !rule.methods.empty() || !rule.paths.empty();
    if (query.method.empty() || !judged) {
      return {.effect = Effect::allow, .reason = Reason::listed, .place = rule.place};
    }
    if (!lists(rule.methods, query.method)) continue;
    const bool plain = rule.paths.empty() || is_plain_url_path(query.path);
    if (query.websocket && !rule.websocket) {
      nearest = {.reason = Reason::websocket_not_listed, .place = rule.place};
    } else if (!plain) {
      nearest = {.reason = Reason::unusual_path, .place = rule.place};
    } else if (!rule.paths.empty() && !url_paths_[i].covers(query.path)) {
      nearest = {.reason = Reason::url_path_not_listed, .place = rule.place};
    } else {
      return {.effect = Effect::allow, .reason = Reason::listed, .place = rule.place};
    }
  }
  return nearest;
}

Decision CheckedDocument::decide_host_port(std::uint16_t port) const {
  const auto& ports = document_.network.host_ports;
  const auto listed = std::ranges::find(ports.items, port, &Port::value);
  if (listed != ports.items.end())
    return {.effect = Effect::allow, .reason = Reason::host_port, .place = listed->place};
  return {.reason = Reason::host_port_not_listed, .place = ports.place.value_or(Place{})};
}

std::optional<Place> CheckedDocument::denied_place(std::string_view host) const {
  const auto* const rules = denied_.find(host);
  if (rules == nullptr) return std::nullopt;
  return document_.network.egress_denylist.items[rules->front()].place;
}

std::optional<Decision> CheckedDocument::decide_without_rules(std::string_view host) const {
  const Network& network = document_.network;
  const bool silent = is_silent_on_network();
  if (!silent && network_mode() == NetworkMode::none) {
    return Decision{.reason = Reason::network_off,
                    .place = network.mode ? network.mode->place : Place{}};
  }
  if (const auto denied = denied_place(host)) {
    return Decision{.reason = Reason::host_denied, .place = *denied};
  }
  // The ports of the host are no matter of a workspace file.
  if (silent || (narrows_only() && host == kHostName)) {
    return Decision{.effect = Effect::allow, .reason = Reason::no_opinion};
  }
  return std::nullopt;
}

Decision CheckedDocument::decide(const NetQuery& query) const {
  const auto address = ipv4_from(query.host);
  if (!address && !is_canonical_name(query.host)) return {.reason = Reason::bad_host};
  if (const auto settled = decide_without_rules(query.host)) return *settled;
  if (query.host == kHostName) return decide_host_port(query.port);
  const Network& network = document_.network;
  const Place mode_place = network.mode ? network.mode->place : Place{};
  if (is_out_of_reach(query.host, address)) return {.reason = Reason::private_address};

  if (const auto* const rules = rules_for(query.host, query.port))
    return decide_listed(query, *rules);
  if (network_mode() == NetworkMode::public_) {
    if (address && kind_of(*address) != AddressKind::public_)
      return {.reason = Reason::private_address};
    if (query.port != 443 && query.port != 80)
      return {.reason = Reason::port_not_listed, .place = mode_place};
    return {.effect = Effect::allow, .reason = Reason::public_host, .place = mode_place};
  }
  if (network.ask && network.ask->value && !address) {
    return {.effect = Effect::ask, .reason = Reason::host_asks, .place = network.ask->place};
  }
  return {.reason = Reason::host_not_listed,
          .place = network.egress_allowlist.place.value_or(mode_place)};
}

Decision CheckedDocument::decide(const CredentialQuery& query) const {
  const auto& grants = document_.credentials.grants;
  const auto& mode = document_.credentials.mode;
  const Place off = mode ? mode->place : Place{};
  // The grants of a preset do not outlive a document that turns them off.
  if (mode && mode->value == CredentialMode::none)
    return {.reason = Reason::no_grant, .place = off};
  // A workspace file can name no grant, so turning them off is all that it can say.
  if (narrows_only()) return {.effect = Effect::allow, .reason = Reason::no_opinion};
  const auto grant = std::ranges::find(grants.items, query.grant, &Grant::name);
  if (grant == grants.items.end()) {
    return {.reason = Reason::no_grant, .place = grants.place.value_or(off)};
  }
  if (grant->host.name != query.host) return {.reason = Reason::grant_host, .place = grant->place};
  if (!lists(grant->methods, query.method))
    return {.reason = Reason::grant_method, .place = grant->place};
  const auto index = static_cast<std::size_t>(grant - grants.items.begin());
  const bool path_allowed = is_plain_url_path(query.path) &&
                            (grant->paths.empty() || grant_paths_[index].covers(query.path));
  if (!path_allowed) return {.reason = Reason::grant_path, .place = grant->place};
  return {.effect = Effect::allow, .reason = Reason::granted, .place = grant->place};
}

}  // namespace cordon::policy
