// SPDX-License-Identifier: Apache-2.0
// The DNS server of one sandbox: addresses of ours for names that its policy allows, a refusal with
// its reason for all others. It asks nobody.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "egress/budget.h"
#include "egress/dns_query.h"
#include "egress/name_slot.h"
#include "egress/name_table.h"
#include "egress/reports.h"
#include "policy/policy.h"

namespace cordon::egress {

// Names and their addresses, in memory and in the slot that outlives us.
class WardNames {
 public:
  // From what a predecessor left; empty where there was none. An Error: what is there is broken,
  // and an address could change its name.
  static Result<WardNames> open(std::span<std::byte> slot);

  // The names that the policy spells out get their addresses ahead, always the same.
  Status pin(const policy::Policy& policy);
  Result<NamedAddress> add(std::string_view name, NameOrigin origin);
  const NameTable& table() const noexcept { return table_; }

 private:
  WardNames(NameSlot slot, NameTable table) : slot_{slot}, table_{std::move(table)} {}
  NameSlot slot_;
  NameTable table_;
};

// All that answering needs; what it refers to outlives it.
class NameServer {
 public:
  NameServer(const policy::Policy& policy, WardNames& names, EgressBudget& budget, Reports& reports)
      : policy_{policy}, names_{names}, budget_{budget}, reports_{reports} {}

  // The answer to one message; nothing: it is not answered.
  std::optional<std::vector<std::byte>> answer(std::span<const std::byte> message,
                                               DnsTransport transport, Ticks now);

 private:
  std::vector<std::byte> answer(const DnsQuery& query, Ticks now);

  const policy::Policy& policy_;
  WardNames& names_;
  EgressBudget& budget_;
  Reports& reports_;
};

}  // namespace cordon::egress
