// SPDX-License-Identifier: Apache-2.0
#include "simulation/tenants.h"

#include <algorithm>

namespace cordon::simulation {
namespace {

constexpr std::size_t kHomes = 3;
constexpr std::uint16_t kOneInHot = 10;
constexpr double kGreed = 1.2;  // what a hot one wants of its quota
constexpr double kSpare = 1.3;  // what the others have of what they want
constexpr std::size_t kLots = 1U << 16U;

}  // namespace

std::vector<Tenant> make_tenants(const Scenario& scenario, Chance& chance) {
  // The n-th largest has about one part in n.
  std::vector<double> parts(scenario.size.tenants);
  double all = 0;
  for (std::size_t i = 0; i < parts.size(); ++i)
    all += parts[i] = 1 / (static_cast<double>(i) + 10);
  std::vector<Tenant> tenants(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Tenant& tenant = tenants[i];
    const bool is_hot = i % kOneInHot == kOneInHot / 2;
    tenant.reaches = scenario.use * scenario.size.all_slots() * parts[i] / all;
    tenant.wants = tenant.reaches * (is_hot ? kGreed : 1);
    tenant.quota.total = static_cast<std::uint64_t>(tenant.reaches * (is_hot ? 1 : kSpare));
    while (tenant.quota.homes.size() < std::min<std::size_t>(kHomes, scenario.size.cells)) {
      tenant.quota.homes.insert(static_cast<fleet::Cell>(chance.below(scenario.size.cells)));
    }
  }
  return tenants;
}

Lots::Lots(const std::vector<Tenant>& tenants) {
  double all = 0;
  for (const Tenant& tenant : tenants) all += tenant.wants;
  double until = 0;
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    until += tenants[i].wants / all * kLots;
    while (static_cast<double>(lots_.size()) < until && lots_.size() < kLots) {
      lots_.push_back(static_cast<std::uint16_t>(i));
    }
  }
}

}  // namespace cordon::simulation
