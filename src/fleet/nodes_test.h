// SPDX-License-Identifier: Apache-2.0
// Nodes of tests.
#pragma once

#include <cstdint>

#include "fleet/node_id.h"

namespace cordon::fleet {

inline NodeId in_cell_1(std::uint32_t number) { return {.cell = 1, .node = number}; }

}  // namespace cordon::fleet
