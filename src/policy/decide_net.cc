// SPDX-License-Identifier: Apache-2.0
// Decisions over hosts, methods and paths, and over the credentials that go to them.
#include <algorithm>

#include "policy/checked.h"

namespace cordon::policy {
namespace {

// The byte that "%4a" at the front of `text` stands for.
std::optional<unsigned> escaped_byte(std::string_view text) noexcept {
  if (text.size() < 3 || text[0] != '%' ||
      text.substr(1, 2).find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
    return std::nullopt;
  const auto digit = [](char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  };
  return digit(text[1]) * 16 + digit(text[2]);
}

// An escape at the front of `text` that has no other spelling. Escaped letters, digits, dots and
// slashes have a plain one; control characters have no business here; and the beginnings of a
// spelling that UTF-8 forbids for being too long are read by some all the same: "%c0%ae" is their
// dot.
bool is_plain_escape(std::string_view text) noexcept {
  const auto byte = escaped_byte(text);
  if (!byte || *byte < 0x20 || *byte == 0x7F || *byte == 0xC0 || *byte == 0xC1) return false;
  const unsigned next = escaped_byte(text.substr(3)).value_or(0);
  if ((*byte == 0xE0 && next < 0xA0) || (*byte == 0xF0 && next < 0x90)) return false;
  const auto c = static_cast<char>(*byte);
  return !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view{"-._~/\\%"}.find(c) != std::string_view::npos);
}

// Spellings that servers and proxies read in different ways are refused, never normalised: what was
// judged must be what is forwarded.
bool is_plain_url_path(std::string_view path) noexcept {
  if (!path.starts_with('/') || path.size() > 8192) return false;
  const bool odd = std::ranges::any_of(path, [](char c) {
    return c <= ' ' || c >= 0x7F ||
           std::string_view{";\\#?\"<>[]^`{|}"}.find(c) != std::string_view::npos;
  });
  if (odd || path.find("//") != std::string_view::npos || path.ends_with("/.") ||
      path.ends_with("/.."))
    return false;
  if (path.find("/./") != std::string_view::npos || path.find("/../") != std::string_view::npos)
    return false;
  for (auto at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 1)) {
    if (!is_plain_escape(path.substr(at))) return false;
  }
  return true;
}

bool lists(const std::vector<std::string>& methods, std::string_view method) {
  return methods.empty() || std::ranges::find(methods, method) != methods.end();
}

bool covers(const std::vector<std::string>& patterns, const PatternSet& set,
            std::string_view path) {
  if (path == "/") return std::ranges::find(patterns, "/") != patterns.end();
  std::string_view relative = path.substr(1);
  if (relative.ends_with('/')) relative.remove_suffix(1);
  return set.match(relative).outcome == PatternSet::Outcome::yes;  // overflow: not covered
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

bool CheckedDocument::has_rule_on(const std::vector<std::uint32_t>& rules,
                                  std::uint16_t port) const {
  return std::ranges::any_of(rules, [&](std::uint32_t i) {
    return document_.network.egress_allowlist.items[i].port == port;
  });
}

// The rules for the most specific pattern that matches host and port: the name itself, then the
// longest "*.".
const std::vector<std::uint32_t>* CheckedDocument::rules_for(std::string_view host,
                                                             std::uint16_t port) const {
  if (const auto exact = allowed_.exact.find(host);
      exact != allowed_.exact.end() && has_rule_on(exact->second, port)) {
    return &exact->second;
  }
  for (auto dot = host.find('.'); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
    const auto wild = allowed_.below.find(host.substr(dot + 1));
    if (wild != allowed_.below.end() && has_rule_on(wild->second, port)) return &wild->second;
  }
  return nullptr;
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
    } else if (!rule.paths.empty() && !covers(rule.paths, url_paths_[i], query.path)) {
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
  const auto& denials = document_.network.egress_denylist.items;
  if (denials.empty()) return std::nullopt;
  if (const auto exact = denied_.exact.find(host); exact != denied_.exact.end())
    return denials[exact->second.front()].place;
  for (auto dot = host.find('.'); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
    const auto wild = denied_.below.find(host.substr(dot + 1));
    if (wild != denied_.below.end()) return denials[wild->second.front()].place;
  }
  return std::nullopt;
}

Decision CheckedDocument::decide(const NetQuery& query) const {
  const auto address = ipv4_from(query.host);
  if (!address && !is_canonical_name(query.host)) return {.reason = Reason::bad_host};
  const Network& network = document_.network;
  const Place mode_place = network.mode ? network.mode->place : Place{};
  const bool speaks = network.mode || network.egress_allowlist.place;
  // A workspace file may turn the network off, name the hosts that stay, or refuse some.
  const bool silent = narrows_only() && !speaks;
  if (!silent && network_mode() == NetworkMode::none)
    return {.reason = Reason::network_off, .place = mode_place};
  if (const auto denied = denied_place(query.host))
    return {.reason = Reason::host_denied, .place = *denied};
  const bool to_host = query.host == kHostName;
  // The ports of the host are no matter of a workspace file.
  if (silent || (narrows_only() && to_host))
    return {.effect = Effect::allow, .reason = Reason::no_opinion};
  if (to_host) return decide_host_port(query.port);
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
  const bool path_allowed =
      is_plain_url_path(query.path) &&
      (grant->paths.empty() || covers(grant->paths, grant_paths_[index], query.path));
  if (!path_allowed) return {.reason = Reason::grant_path, .place = grant->place};
  return {.effect = Effect::allow, .reason = Reason::granted, .place = grant->place};
}

}  // namespace cordon::policy
