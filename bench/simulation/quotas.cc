// SPDX-License-Identifier: Apache-2.0
#include "simulation/quotas.h"

namespace cordon::simulation {

Quotas::Quotas(const Size& size, Arm::Quota rule, const std::vector<Tenant>& tenants)
    : tenants_{size.tenants},
      rule_{rule},
      used_(std::size_t{size.cells} * size.tenants),
      last_sum_(used_.size()) {
  cells_.reserve(used_.size());
  for (std::uint16_t cell = 0; cell < size.cells; ++cell) {
    for (std::uint16_t i = 0; i < size.tenants; ++i) cells_.emplace_back(cell);
  }
  for (const Tenant& tenant : tenants) {
    totals_.push_back(tenant.quota.total);
    standing_.push_back({.text = fleet::encode(tenant.quota)});
  }
}

std::uint64_t Quotas::sum_of(std::uint16_t tenant) const {
  std::uint64_t sum = 0;
  for (std::size_t at = tenant; at < used_.size(); at += tenants_) sum += used_[at];
  return sum;
}

bool Quotas::admit(std::uint16_t cell, std::uint16_t tenant, Millis now) {
  const std::size_t at = place(cell, tenant);
  const bool is_admitted = rule_ == Arm::Quota::ledger ? cells_[at].admit(ticks_at(now))
                                                       : last_sum_[at] < totals_[tenant];
  used_[at] += is_admitted ? 1 : 0;
  return is_admitted;
}

void Quotas::ended(std::uint16_t cell, std::uint16_t tenant, std::uint64_t count) {
  const std::size_t at = place(cell, tenant);
  used_[at] -= count;
  if (rule_ != Arm::Quota::ledger) return;
  for (std::uint64_t i = 0; i < count; ++i) cells_[at].ended();
}

Quotas::Asked Quotas::ask(std::uint16_t cell, std::uint16_t tenant, Millis now) {
  last_sum_[place(cell, tenant)] = sum_of(tenant);
  return {.cell = cell,
          .tenant = tenant,
          .at = now,
          .change = cells_[place(cell, tenant)].next_change(ticks_at(now))};
}

Quotas::Answered Quotas::serve(const Asked& asked) {
  Standing& standing = standing_[asked.tenant];
  if (asked.change && asked.change->base == standing.revision) {
    ++writes_;
    standing = {.text = fleet::encode(asked.change->ledger), .revision = standing.revision + 1};
  }
  return {.cell = asked.cell,
          .tenant = asked.tenant,
          .asked_at = asked.at,
          .ledger = standing.text,
          .revision = standing.revision};
}

void Quotas::hear(const Answered& answered) {
  const auto ledger = fleet::decode_quota(answered.ledger);
  if (!ledger) std::abort();
  cells_[place(answered.cell, answered.tenant)].heard(*ledger, answered.revision,
                                                      ticks_at(answered.asked_at));
}

}  // namespace cordon::simulation
