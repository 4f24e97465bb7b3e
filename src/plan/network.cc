// SPDX-License-Identifier: Apache-2.0
#include "plan/network.h"

#include "policy/checked.h"

namespace cordon::plan {
namespace {

frame::RulePlace to_frame(policy::Place place) {
  return {.source = place.source, .line = place.mark.line, .column = place.mark.column};
}

template <class T>
std::optional<frame::RulePlace> place_of(const policy::Listed<T>& listed) {
  if (!listed.place) return std::nullopt;
  return to_frame(*listed.place);
}

frame::NetRule to_frame(const policy::EgressRule& rule) {
  return {.host = to_string(rule.host),
          .port = rule.port,
          .protocol = static_cast<std::uint8_t>(rule.protocol),
          .addresses = static_cast<std::uint8_t>(rule.addresses),
          .websocket = rule.websocket,
          .methods = rule.methods,
          .paths = rule.paths,
          .place = to_frame(rule.place)};
}

frame::NetGrant to_frame(const policy::Grant& grant) {
  return {.name = grant.name,
          .host = to_string(grant.host),
          .header = grant.header,
          .methods = grant.methods,
          .paths = grant.paths,
          .place = to_frame(grant.place)};
}

frame::NetDocument to_frame(const policy::CheckedDocument& checked) {
  const policy::PolicyDocument& document = checked.document();
  const policy::Network& network = document.network;
  frame::NetDocument out{.origin = static_cast<std::uint8_t>(checked.origin())};
  for (const policy::Source& source : document.sources) {
    out.files.push_back({source.name, static_cast<std::uint8_t>(source.origin)});
  }
  if (network.mode) {
    out.mode = static_cast<std::uint8_t>(network.mode->value);
    out.mode_place = to_frame(network.mode->place);
  }
  out.allow_place = place_of(network.egress_allowlist);
  for (const policy::EgressRule& rule : network.egress_allowlist.items) {
    // A registry that stands for nothing here reaches nothing there.
    if (!rule.host.name.empty()) out.allow.push_back(to_frame(rule));
  }
  for (const policy::HostDenial& denial : network.egress_denylist.items) {
    out.deny.push_back({to_string(denial.host), to_frame(denial.place)});
  }
  if (network.ask) {
    out.ask = network.ask->value;
    out.ask_place = to_frame(network.ask->place);
  }
  out.host_ports_place = place_of(network.host_ports);
  for (const policy::Port& port : network.host_ports.items) {
    out.host_ports.push_back({port.value, to_frame(port.place)});
  }
  const auto& mode = document.credentials.mode;
  out.no_credentials = mode && mode->value == policy::CredentialMode::none;
  if (out.no_credentials) return out;
  for (const policy::Grant& grant : document.credentials.grants.items) {
    out.grants.push_back(to_frame(grant));
  }
  return out;
}

// Where the smallest of a limit is written: the first document that says it.
template <class Get>
std::string rule_of(const policy::Policy& policy, Get get) {
  const policy::PolicyDocument* by = nullptr;
  std::optional<policy::Stated<std::uint64_t>> least;
  for (const auto& checked : policy.documents()) {
    const auto& stated = get(checked->document());
    if (!stated || (least && least->value <= stated->value)) continue;
    least = stated;
    by = &checked->document();
  }
  return least && least->place.mark.line != 0 ? to_string(*by, least->place) : std::string{};
}

}  // namespace

frame::Serve serve_of(const policy::Policy& policy, std::string id) {
  const policy::Settings settings = policy.settings();
  frame::Serve serve{.id = std::move(id)};
  for (const auto& checked : policy.documents()) serve.documents.push_back(to_frame(*checked));
  serve.budgets = {.bytes = settings.limits.egress,
                   .requests_per_minute = settings.limits.requests_per_minute,
                   .connections = settings.limits.connections,
                   .bandwidth = settings.limits.bandwidth};
  using policy::PolicyDocument;
  const auto bytes = [](const PolicyDocument& document) { return document.resources.egress; };
  const auto requests = [](const PolicyDocument& document) {
    return document.network.requests_per_minute;
  };
  const auto connections = [](const PolicyDocument& document) {
    return document.network.connections;
  };
  serve.budgets.bytes_rule = rule_of(policy, bytes);
  serve.budgets.requests_rule = rule_of(policy, requests);
  serve.budgets.connections_rule = rule_of(policy, connections);
  serve.secret_scanning = settings.secret_scanning;
  return serve;
}

}  // namespace cordon::plan
