// SPDX-License-Identifier: Apache-2.0
// Decisions over hosts, in words.
#include <algorithm>

#include <fmt/format.h>

#include "policy/explain_parts.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

const EgressRule* rule_at(const Spoken& spoken) {
  const auto& rules = spoken.document().network.egress_allowlist.items;
  const auto found = std::ranges::find(rules, spoken.decision.place, &EgressRule::place);
  return found == rules.end() ? nullptr : &*found;
}

// What all rules for the host and port of the deciding rule allow together: "GET, HEAD".
std::string methods_of(const Spoken& spoken) {
  const EgressRule* const deciding = rule_at(spoken);
  std::vector<std::string> all;
  for (const EgressRule& rule : spoken.document().network.egress_allowlist.items) {
    if (deciding == nullptr || rule.host != deciding->host || rule.port != deciding->port) continue;
    for (const std::string& method : rule.methods) {
      if (std::ranges::find(all, method) == all.end()) all.push_back(method);
    }
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

// "POST on /*/*/git-upload-pack"
std::string paths_of(const Spoken& spoken) {
  const EgressRule* const rule = rule_at(spoken);
  if (rule == nullptr) return {};
  const std::string methods =
      rule->methods.empty() ? "requests" : fmt::format("{}", fmt::join(rule->methods, ", "));
  return fmt::format("{} on {}", methods, fmt::join(rule->paths, ", "));
}

std::string sentence(const Spoken& spoken, const NetQuery& query) {
  const std::string host = printable(query.host);
  const std::string target = fmt::format("{}:{}", host, query.port);
  switch (spoken.decision.reason) {
    case Reason::bad_host:
      return fmt::format(
          "{} is no host name in its one spelling: lower case, no trailing dot, no number as its "
          "last "
          "label",
          in_quotes(query.host));
    case Reason::network_off:
      return "there is no network";
    case Reason::host_not_listed:
      return fmt::format("{} is not in egress_allowlist", target);
    case Reason::host_denied:
      return fmt::format("{} is refused by egress_denylist", target);
    case Reason::host_asks:
      return fmt::format("{} is not listed; a human is asked", target);
    case Reason::listed:
      return fmt::format("{} is in egress_allowlist", target);
    case Reason::public_host:
      return fmt::format("{} is reachable under mode = \"public\", at public addresses only",
                         target);
    case Reason::private_address:
      return fmt::format("{} is no public address", host);
    case Reason::port_not_listed:
      return fmt::format("under mode = \"public\" only ports 443 and 80 are open; {} is not",
                         query.port);
    case Reason::method_not_listed:
      return fmt::format("{} allows {} only", host, methods_of(spoken));
    case Reason::unusual_path:
      return fmt::format(
          "the path {} is spelled in a way that servers read differently (escapes of plain "
          "characters, `//`, `..`, `;`, `?` and the like), and is refused where paths are judged",
          in_quotes(query.path));
    case Reason::url_path_not_listed:
      return fmt::format("{} allows {} only", host, paths_of(spoken));
    case Reason::websocket_not_listed:
      return fmt::format("{} is judged by requests and may not become a WebSocket", host);
    case Reason::host_port:
      return fmt::format("port {} of the host is in host_ports", query.port);
    case Reason::host_port_not_listed:
      return fmt::format("port {} of the host is not in host_ports", query.port);
    default:
      return fmt::format("nothing speaks against {}", target);
  }
}

// The shortest spelling of a rule for the host and port.
std::string new_rule(const NetQuery& query, bool private_address) {
  const std::string host = toml_text(query.host);
  if (private_address) {
    return fmt::format(
        "{{ host = {}, port = {}, protocol = \"tcp\", addresses = \"private\", why = \"…\" }}",
        host, query.port);
  }
  if (query.port == 443 || query.port == 80) {
    return toml_text(fmt::format("{}:{}", query.host, query.port));
  }
  return fmt::format("{{ host = {}, port = {}, protocol = \"tcp\", why = \"…\" }}", host,
                     query.port);
}

// An edit of the rule that decided; a preset's rule stays, so a rule of the document's own stands
// beside it.
Change widen(const Spoken& spoken, const NetQuery& query, std::string key, std::string value,
             Edit edit) {
  if (!spoken.from_preset()) {
    return {edit, spoken.file(), std::move(key), std::move(value), spoken.rule()};
  }
  std::string rule = fmt::format("{{ host = {}, port = {}", toml_text(query.host), query.port);
  if (!query.method.empty()) rule += fmt::format(", methods = [{}]", toml_text(query.method));
  if (!query.path.empty()) rule += fmt::format(", paths = [{}]", toml_text(query.path));
  if (query.websocket) rule += ", websocket = true";
  return spoken.add("network.egress_allowlist", rule + ", why = \"…\" }");
}

Change to_allow(const Spoken& spoken, const NetQuery& query) {
  switch (spoken.decision.reason) {
    case Reason::network_off:
      return spoken.set("network",
                        fmt::format("{{ mode = \"restricted\", egress_allowlist = [{}] }}",
                                    new_rule(query, false)));
    case Reason::host_not_listed:
    case Reason::host_asks:
    case Reason::port_not_listed:
      return spoken.add("network.egress_allowlist", new_rule(query, false));
    case Reason::host_denied:
      return spoken.remove("network.egress_denylist");
    case Reason::private_address: {
      const auto address = ipv4_from(query.host);
      if (address && kind_of(*address) == AddressKind::forbidden) {
        return spoken.none(
            "no policy can allow it: loopback, link-local, metadata and reserved addresses stay "
            "refused");
      }
      return spoken.add("network.egress_allowlist", new_rule(query, true));
    }
    case Reason::method_not_listed:
      return widen(spoken, query, "network.egress_allowlist[].methods", toml_text(query.method),
                   Edit::add);
    case Reason::url_path_not_listed:
      return widen(spoken, query, "network.egress_allowlist[].paths", toml_text(query.path),
                   Edit::add);
    case Reason::websocket_not_listed:
      return widen(spoken, query, "network.egress_allowlist[].websocket", "true", Edit::set);
    case Reason::host_port_not_listed:
      return spoken.add("network.host_ports", fmt::format("{}", query.port));
    case Reason::unusual_path:
      return spoken.none("no policy can allow it; send the path in its plain spelling");
    default:
      return spoken.none("no policy can allow it; use the name in its one spelling");
  }
}

bool matches(const HostPattern& pattern, std::string_view host) {
  if (pattern.is_block()) {
    const auto address = ipv4_from(host);
    return address && pattern.address && is_in_block(*address, *pattern.address, pattern.bits);
  }
  return pattern.wildcard ? host.ends_with("." + pattern.name) : pattern.name == host;
}

std::vector<Change> to_refuse(const Spoken& spoken, const NetQuery& query) {
  if (spoken.decision.reason == Reason::public_host) {
    return {spoken.add("network.egress_denylist", toml_text(query.host))};
  }
  if (spoken.decision.reason == Reason::host_port) return {spoken.remove("network.host_ports")};
  // Where one rule goes, a less specific one may take its place: all that reach the host must go. A
  // preset's rules stay, so that the host has to be refused by name.
  std::vector<Change> changes;
  for (const EgressRule& rule : spoken.document().network.egress_allowlist.items) {
    if (rule.port != query.port || !matches(rule.host, query.host)) continue;
    const Decision allows{.effect = Effect::allow, .reason = Reason::listed, .place = rule.place};
    const Spoken of_rule{spoken.checked, allows};
    if (of_rule.from_preset())
      return {spoken.add("network.egress_denylist", toml_text(query.host))};
    changes.push_back(of_rule.remove("network.egress_allowlist"));
  }
  return changes;
}

struct NetWords {
  const NetQuery& query;
  std::string sentence(const Spoken& spoken) const { return policy::sentence(spoken, query); }
  Change to_allow(const Spoken& spoken) const { return policy::to_allow(spoken, query); }
  std::vector<Change> to_refuse(const Spoken& spoken) const {
    return policy::to_refuse(spoken, query);
  }
};

}  // namespace

Explanation explain(const Policy& policy, const NetQuery& query) {
  return explain_with(policy, query, NetWords{query});
}

}  // namespace cordon::policy
