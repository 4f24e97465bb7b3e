// SPDX-License-Identifier: Apache-2.0
// Which names may be looked up, where they may lead, and how a connection that is allowed must
// speak.
#include <algorithm>

#include "policy/checked.h"
#include "policy/policy.h"

namespace cordon::policy {
namespace {

bool is_judged(const EgressRule& rule) { return !rule.methods.empty() || !rule.paths.empty(); }

// Of two documents: what both allow. `tcp` allows whatever the other wants to see.
std::optional<Protocol> both(Protocol one, Protocol two) {
  if (one == two || two == Protocol::tcp) return one;
  if (one == Protocol::tcp) return two;
  return std::nullopt;
}

}  // namespace

Decision CheckedDocument::decide_name(std::string_view host) const {
  if (!is_canonical_name(host)) return {.reason = Reason::bad_host};
  if (const auto settled = decide_without_rules(host)) return *settled;
  const Network& network = document_.network;
  const Place mode_place = network.mode ? network.mode->place : Place{};
  if (host == kHostName) {
    const auto& ports = network.host_ports;
    if (ports.items.empty()) {
      return {.reason = Reason::host_port_not_listed, .place = ports.place.value_or(Place{})};
    }
    return {
        .effect = Effect::allow, .reason = Reason::host_port, .place = ports.items.front().place};
  }
  if (host == "localhost" || host.ends_with(".localhost")) {
    return {.reason = Reason::private_address};
  }
  if (const auto* const rules = allowed_.find(host)) {
    const EgressRule& rule = network.egress_allowlist.items[rules->front()];
    return {.effect = Effect::allow, .reason = Reason::listed, .place = rule.place};
  }
  if (network_mode() == NetworkMode::public_) {
    return {.effect = Effect::allow, .reason = Reason::public_host, .place = mode_place};
  }
  if (network.ask && network.ask->value) {
    return {.effect = Effect::ask, .reason = Reason::host_asks, .place = network.ask->place};
  }
  return {.reason = Reason::host_not_listed,
          .place = network.egress_allowlist.place.value_or(mode_place)};
}

Decision CheckedDocument::decide_address(std::string_view quad) const {
  if (const auto denied = denied_place(quad)) {
    return {.reason = Reason::host_denied, .place = *denied};
  }
  return {.effect = Effect::allow, .reason = Reason::no_opinion};
}

std::optional<Passage> CheckedDocument::passage(std::string_view host, std::uint16_t port) const {
  const bool to_host = host == kHostName;
  if (is_silent_on_network() || (narrows_only() && to_host)) return std::nullopt;
  if (to_host) return Passage{.protocol = Protocol::tcp, .addresses = Addresses::private_};
  const auto* const rules = rules_for(host, port);
  if (rules == nullptr) {
    return Passage{.protocol = port == 80 ? Protocol::http : Protocol::tls};
  }
  // All rules of one pattern allow together: a connection is judged where none of them is content.
  Passage passage{.protocol = Protocol::tcp, .judged = true};
  for (const std::uint32_t i : *rules) {
    const EgressRule& rule = document_.network.egress_allowlist.items[i];
    if (rule.port != port) continue;
    passage.protocol = both(passage.protocol, rule.protocol).value_or(passage.protocol);
    passage.judged = passage.judged && is_judged(rule);
    passage.websocket = passage.websocket || rule.websocket;
    if (rule.addresses == Addresses::private_) passage.addresses = Addresses::private_;
  }
  return passage;
}

std::optional<Passage> Policy::passage(std::string_view host, std::uint16_t port) const {
  Passage whole{.protocol = Protocol::tcp, .addresses = Addresses::private_, .websocket = true};
  for (const auto& checked : documents_) {
    const auto theirs = checked->passage(host, port);
    if (!theirs) continue;
    const auto protocol = both(whole.protocol, theirs->protocol);
    if (!protocol) return std::nullopt;
    whole.protocol = *protocol;
    if (theirs->addresses == Addresses::public_) whole.addresses = Addresses::public_;
    whole.judged = whole.judged || theirs->judged;
    whole.websocket = whole.websocket && theirs->websocket;
    const auto& grants = checked->document().credentials.grants.items;
    const bool bound =
        std::ranges::any_of(grants, [&](const Grant& grant) { return grant.host.name == host; });
    whole.judged = whole.judged || (bound && port == 443);
  }
  return whole;
}

}  // namespace cordon::policy
