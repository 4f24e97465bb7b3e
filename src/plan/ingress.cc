// SPDX-License-Identifier: Apache-2.0
#include "plan/ingress.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/checked.h"

namespace cordon::plan {

std::vector<std::uint16_t> ingress_of(const policy::Policy& policy) {
  std::set<std::uint16_t> ports;
  for (const auto& checked : policy.documents()) {
    for (const policy::Port& port : checked->document().network.ingress.items) {
      if (policy.decide_ingress(port.value).allowed()) ports.insert(port.value);
    }
  }
  if (ports.contains(policy::kAnyPort)) return {policy::kAnyPort};
  return {ports.begin(), ports.end()};
}

bool lets_in(const std::vector<std::uint16_t>& ports, std::uint16_t port) {
  return std::ranges::any_of(
      ports, [&](std::uint16_t each) { return each == port || each == policy::kAnyPort; });
}

Mechanism ingress_mechanism(const std::vector<std::uint16_t>& ports) {
  if (lets_in(ports, policy::kAnyPort)) return {"ingress", Hold::held, "tunnels to any port"};
  return {"ingress", Hold::held,
          ports.empty() ? "none: no port is tunnelled to"
                        : fmt::format("tunnels to {} alone", fmt::join(ports, ", "))};
}

}  // namespace cordon::plan
