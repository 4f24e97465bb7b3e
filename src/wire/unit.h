// SPDX-License-Identifier: Apache-2.0
// What a create is counted by in its tenant's quota of the whole fleet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace cordon::wire {

// The header of a create in which a gateway says so to the node.
inline constexpr std::string_view kUnitField = "Cordon-Unit";

// One sandbox: "INDEX NUMBER BEFORE", as the index of the cell has named it.
struct Unit {
  std::uint64_t index = 0;   // which index, the later one the greater
  std::uint64_t number = 0;  // of it
  WallTime before{};         // from then on it is worth nothing: a second
  friend bool operator==(const Unit&, const Unit&) = default;
};
std::string to_text(const Unit& unit);
// `invalid`: it is none.
Result<Unit> read_unit(std::string_view text);

}  // namespace cordon::wire
