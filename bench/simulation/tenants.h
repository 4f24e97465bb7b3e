// SPDX-License-Identifier: Apache-2.0
// Who asks for sandboxes: tenants of different sizes, one in ten of them always at its limit.
#pragma once

#include <cstdint>
#include <vector>

#include "fleet/quota_ledger.h"
#include "simulation/chance.h"
#include "simulation/scenario.h"

namespace cordon::simulation {

struct Tenant {
  fleet::QuotaLedger quota;
  double wants = 0;    // sandboxes at once, on average
  double reaches = 0;  // of these, with its quota
};

// Together they reach the scenario's use.
std::vector<Tenant> make_tenants(const Scenario& scenario, Chance& chance);

// Draws tenants as often as they ask.
class Lots {
 public:
  explicit Lots(const std::vector<Tenant>& tenants);
  std::uint16_t draw(Chance& chance) const { return lots_[chance.below(lots_.size())]; }

 private:
  std::vector<std::uint16_t> lots_;
};

}  // namespace cordon::simulation
