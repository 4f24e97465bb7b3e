// SPDX-License-Identifier: Apache-2.0
// What gateways and indexes say to each other of units (pure).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/node_id.h"
#include "wire/unit.h"

namespace cordon::fleet {

inline constexpr std::string_view kUnitsPath = "/v1/units";
inline constexpr std::size_t kLargestUnits = std::size_t{64} << 10U;

struct UnitsQuestion {
  std::string tenant;
  std::uint32_t wanted = 0;          // 0: nothing is asked for
  std::vector<wire::Unit> unused{};  // are given back
  friend bool operator==(const UnitsQuestion&, const UnitsQuestion&) = default;
};
std::string to_json(const UnitsQuestion& question);
Result<UnitsQuestion> read_units_question(std::string_view text);

struct UnitsAnswer {
  std::vector<wire::Unit> units;  // none: the tenant has none left in the cell
  std::uint64_t allowed = 0;      // in the cell
  std::uint64_t used = 0;
  // Nodes of the cell that the index has not read for a while: what begins there by a unit nobody
  // would count.
  std::vector<NodeId> unread{};
  friend bool operator==(const UnitsAnswer&, const UnitsAnswer&) = default;
};
std::string to_json(const UnitsAnswer& answer);
Result<UnitsAnswer> read_units_answer(std::string_view text);

}  // namespace cordon::fleet
