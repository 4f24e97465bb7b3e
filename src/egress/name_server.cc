// SPDX-License-Identifier: Apache-2.0
#include "egress/name_server.h"

#include <algorithm>

#include "egress/dns_answer.h"
#include "egress/refusals.h"
#include "policy/checked.h"

namespace cordon::egress {
namespace {

// An address never changes its name, so that clients may keep it; a policy may take the name away,
// so that they do not keep it for long.
constexpr std::chrono::seconds kKeep{60};

}  // namespace

Result<WardNames> WardNames::open(std::span<std::byte> slot) {
  const bool empty = std::ranges::all_of(slot.first(kNameSlotHeader),
                                         [](std::byte byte) { return byte == std::byte{}; });
  if (empty) return WardNames{NameSlot::format(slot), NameTable{}};
  TRY(NameSlot::Opened opened, NameSlot::open(slot));
  return WardNames{opened.slot, std::move(opened.table)};
}

Result<NamedAddress> WardNames::add(std::string_view name, NameOrigin origin) {
  TRY(const NamedAddress named, table_.add(name, origin));
  if (named.added) slot_.append(name, origin);
  return named;
}

Status WardNames::pin(const policy::Policy& policy) {
  for (const auto& checked : policy.documents()) {
    const policy::Network& network = checked->document().network;
    for (const policy::EgressRule& rule : network.egress_allowlist.items) {
      if (rule.host.wildcard || rule.host.address || rule.host.name.empty()) continue;
      TRY_DO(add(rule.host.name, NameOrigin::pinned));
    }
    if (!network.host_ports.items.empty()) TRY_DO(add(policy::kHostName, NameOrigin::pinned));
  }
  return {};
}

std::optional<std::vector<std::byte>> NameServer::answer(std::span<const std::byte> message,
                                                         DnsTransport transport, Ticks now) {
  const auto query = parse_query(message, transport);
  if (!query) return answer_fault(query.error());
  return answer(*query, now);
}

std::vector<std::byte> NameServer::answer(const DnsQuery& query, Ticks now) {
  const DnsService service = service_of(query);
  if (!query.name) {
    return answer_refused(query, DnsExtendedError::prohibited, "cordon: no name of a host");
  }
  const policy::Decision decision = policy_.decide_name(*query.name);
  if (!decision.allowed()) {
    frame::NetRefused refusal = refused_name(policy_, *query.name);
    const std::string why = "cordon: " + refusal.why + " (" + refusal.rule + ")";
    reports_.refused(std::move(refusal));
    const bool blocked = decision.reason == policy::Reason::host_denied;
    return answer_refused(query, blocked ? DnsExtendedError::blocked : DnsExtendedError::prohibited,
                          why);
  }
  if (service == DnsService::refused) {
    return answer_refused(query, DnsExtendedError::not_supported,
                          "cordon: only addresses are answered");
  }
  if (service == DnsService::no_data) return answer_no_data(query);
  if (const auto known = names_.table().address_of(*query.name)) {
    return answer_addresses(query, {&*known, 1}, kKeep);
  }
  const auto refuse = [&](const std::string& why) {
    frame::NetRefused refusal{.code = std::string{kBudgetRefused},
                              .tried = "look up one more name",
                              .rule = rule_of(BudgetKind::names, {}),
                              .why = why};
    reports_.refused(std::move(refusal));
    return answer_refused(query, DnsExtendedError::prohibited, "cordon: " + why);
  };
  if (const auto over = budget_.fresh_name(now)) return refuse(over->why);
  const auto named = names_.add(*query.name, NameOrigin::fresh);
  if (!named) return refuse(named.error().text());
  return answer_addresses(query, {&named->ipv4, 1}, kKeep);
}

}  // namespace cordon::egress
