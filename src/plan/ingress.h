// SPDX-License-Identifier: Apache-2.0
// Which ports of a sandbox are reached from outside.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/policy.h"
#include "record/enforcement.h"

namespace cordon::plan {

// Those that all documents allow, in order; policy::kAnyPort alone: all.
std::vector<std::uint16_t> ingress_of(const policy::Policy& policy);

// Whether one of them is that one.
bool lets_in(const std::vector<std::uint16_t>& ports, std::uint16_t port);

// How that holds.
Mechanism ingress_mechanism(const std::vector<std::uint16_t>& ports);

}  // namespace cordon::plan
