// SPDX-License-Identifier: Apache-2.0
#include "plan/ingress.h"

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
  return {ports.begin(), ports.end()};
}

Mechanism ingress_mechanism(const std::vector<std::uint16_t>& ports) {
  return {"ingress", Hold::held,
          ports.empty() ? "none: no port is tunnelled to"
                        : fmt::format("tunnels to {} alone", fmt::join(ports, ", "))};
}

}  // namespace cordon::plan
