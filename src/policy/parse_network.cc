// SPDX-License-Identifier: Apache-2.0
// The network section: which hosts, by which ports, methods and paths.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "policy/parse_sections.h"
#include "policy/spelling.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

constexpr std::string_view kRegistries[] = {"@npm", "@pip", "@apt", "@cargo"};

struct HostAndPort {
  std::string host;
  std::optional<std::uint16_t> port;
};

// "api.example.com:443"; a bad port is a problem at `mark`.
HostAndPort split_port(const std::string& text, Mark mark, Problems& problems) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || text.find(':', colon + 1) != std::string::npos ||
      text.contains('/')) {
    return {text, std::nullopt};
  }
  const std::string_view digits = std::string_view{text}.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) {
    problems.add(mark, fmt::format("{}: {} is no port; allowed are 1 to 65535", in_quotes(text),
                                   in_quotes(digits)));
  }
  return {text.substr(0, colon), port};
}

// Puts `host` into the rule: a registry's symbol or a pattern.
void set_host(EgressRule& rule, const std::string& host, Mark mark, Problems& problems) {
  if (host.starts_with('@')) {
    rule.registry = host;
    if (std::ranges::find(kRegistries, host) == std::end(kRegistries)) {
      problems.add(mark,
                   fmt::format("{} is no registry; allowed: {}{}", in_quotes(host),
                               fmt::join(kRegistries, ", "), did_you_mean(host, kRegistries)));
    }
    return;
  }
  auto pattern = parse_host_pattern(host);
  if (!pattern) {
    problems.add(mark, pattern.error().text());
    return;
  }
  rule.host = *std::move(pattern);
}

// What the port speaks: known for 443 and 80, to be said for any other.
void set_protocol(EgressRule& rule, Maybe<Protocol> said, Mark mark, Problems& problems) {
  if (said) {
    rule.protocol = said->value;
  } else if (rule.port == 443 || rule.port == 80) {
    rule.protocol = rule.port == 443 ? Protocol::tls : Protocol::http;
  } else {
    problems.add(
        mark,
        fmt::format("port {} needs a protocol: {{ host = \"{}\", port = {}, protocol = \"tls\" }} "
                    "(tls, http or tcp)",
                    rule.port, to_string(rule.host), rule.port));
  }
}

EgressRule rule_of_text(const Value& item, Problems& problems) {
  EgressRule rule;
  rule.place = {0, item.mark};
  const auto [host, port] = split_port(*item.text(), item.mark, problems);
  if (port) rule.port = *port;
  set_host(rule, host, item.mark, problems);
  if (port && !rule.registry.empty()) {
    problems.add(item.mark,
                 fmt::format("{}: a registry has the port of its own configuration; leave it out",
                             in_quotes(*item.text())));
  }
  if (rule.registry.empty() && !rule.host.name.empty() && rule.port != 0) {
    set_protocol(rule, std::nullopt, item.mark, problems);
  }
  return rule;
}

void check_judged(const Section& section, const EgressRule& rule) {
  const bool judged =
      !rule.methods.empty() || !rule.paths.empty() || section.find("websocket") != nullptr;
  if (judged && rule.protocol == Protocol::tcp) {
    section.problems().add(rule.place.mark,
                           "methods, paths and websocket are HTTP's: they cannot be held on a port "
                           "with protocol = \"tcp\"; leave them out");
  }
  // Requests that nobody judges can become anything.
  if (rule.methods.empty() && rule.paths.empty() && section.find("websocket") != nullptr &&
      !rule.websocket) {
    section.problem("websocket",
                    "`websocket` = false is held only where requests are judged; say `methods` or "
                    "`paths` too, or leave it out");
  }
}

EgressRule rule_of_table(const Section& section) {
  EgressRule rule;
  rule.place = section.place();
  Problems& problems = section.problems();
  const auto text = section.text("host");
  if (!text) {
    problems.add(rule.place.mark, "an item of `egress_allowlist` needs `host`");
    return rule;
  }
  const Mark mark = text->place.mark;
  const auto [host, inline_port] = split_port(text->value, mark, problems);
  const auto port = section.integer("port");
  if (inline_port && port)
    problems.add(
        mark, fmt::format("{}: the port is said twice; leave `port` out", in_quotes(text->value)));
  if (inline_port) rule.port = *inline_port;
  if (port) rule.port = static_cast<std::uint16_t>(port->value);
  set_host(rule, host, mark, problems);
  if (!rule.registry.empty() &&
      (port || section.find("protocol") != nullptr || section.find("addresses") != nullptr)) {
    problems.add(
        mark,
        fmt::format("{}: a registry has the port, protocol and addresses of its own configuration; "
                    "leave them out",
                    in_quotes(rule.registry)));
  }
  if (rule.registry.empty() && !rule.host.name.empty() && rule.port != 0) {
    set_protocol(rule,
                 choice_of(section, "protocol", {Protocol::tls, Protocol::http, Protocol::tcp}),
                 mark, problems);
  }
  rule.methods = section.plain_texts("methods");
  rule.paths = parse_url_paths(section);
  if (const auto websocket = section.boolean("websocket")) rule.websocket = websocket->value;
  if (const auto addresses = section.text("addresses");
      addresses && addresses->value == "private") {
    rule.addresses = Addresses::private_;
  }
  if (auto why = section.text("why")) rule.why = std::move(why->value);
  check_judged(section, rule);
  return rule;
}

void check_address(const EgressRule& rule, Problems& problems) {
  if (!rule.host.address || kind_of(rule.host) != AddressKind::private_) return;
  if (rule.addresses == Addresses::private_) return;
  problems.add(
      rule.place.mark,
      fmt::format("{} is {}; write {{ host = \"{}\", addresses = \"private\" }}", rule.host.name,
                  rule.host.is_block() ? "a block of private addresses" : "a private address",
                  rule.host.name));
}

void check_mode(const Section& section, const Network& network) {
  const auto say = [&](std::string_view key, std::string message) {
    section.problem(key, std::move(message));
  };
  const NetworkMode mode = network.mode ? network.mode->value : NetworkMode::restricted;
  if (mode == NetworkMode::none) {
    if (!network.egress_allowlist.items.empty()) {
      say("egress_allowlist",
          "`egress_allowlist` has rules, but mode = \"none\" reaches nothing; say \"restricted\"");
    }
    if (!network.host_ports.items.empty()) {
      say("host_ports",
          "`host_ports` has ports, but mode = \"none\" reaches nothing; say \"restricted\"");
    }
    if (network.ask && network.ask->value)
      say("ask", "`ask` has no meaning with mode = \"none\"; say \"restricted\"");
  }
}

}  // namespace

Network parse_network(const Section& section) {
  Network network;
  Problems& problems = section.problems();
  network.mode = choice_of(section, "mode",
                           {NetworkMode::none, NetworkMode::restricted, NetworkMode::public_});
  if (const Value* const list = section.find("egress_allowlist")) {
    network.egress_allowlist.place = Place{0, list->mark};
    for (const Value& item : *list->list()) {
      network.egress_allowlist.items.push_back(
          item.text() != nullptr ? rule_of_text(item, problems) : rule_of_table({&item, problems}));
      check_address(network.egress_allowlist.items.back(), problems);
    }
  }
  const auto denied = section.texts("egress_denylist");
  network.egress_denylist.place = denied.place;
  for (const auto& text : denied.items) {
    auto pattern = parse_host_pattern(text.value);
    if (pattern) {
      network.egress_denylist.items.push_back({*std::move(pattern), text.place});
    } else {
      problems.add(text.place.mark, pattern.error().text());
    }
  }
  network.ask = section.boolean("ask");
  network.ingress = section.ports("ingress");
  network.host_ports = section.ports("host_ports");
  network.requests_per_minute = section.integer("requests_per_minute");
  network.connections = section.integer("connections");
  network.bandwidth = section.size("bandwidth");
  check_mode(section, network);
  return network;
}

}  // namespace cordon::policy
