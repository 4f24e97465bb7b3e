// SPDX-License-Identifier: Apache-2.0
// Which ports of a sandbox are reached from outside.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/policy.h"
#include "record/enforcement.h"

namespace cordon::plan {

// Those that all documents allow, in order.
std::vector<std::uint16_t> ingress_of(const policy::Policy& policy);

// How that holds.
Mechanism ingress_mechanism(const std::vector<std::uint16_t>& ports);

}  // namespace cordon::plan
