// SPDX-License-Identifier: Apache-2.0
#include "token/budget.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace cordon::token {
namespace {

using enum Quantity;

constexpr std::array kQuantities = {
    QuantityRow{sandboxes, "sandboxes", "sandboxes alive at a time"},
    QuantityRow{creates_per_minute, "creates_per_minute", "sandboxes made within a minute"},
    QuantityRow{processes, "processes", "processes and threads, of all sandboxes together"},
    QuantityRow{milli_cpus, "milli_cpus", "thousandths of a processor, of all sandboxes together"},
    QuantityRow{memory_bytes, "memory_bytes", "memory of all sandboxes together"},
    QuantityRow{disk_bytes, "disk_bytes", "disk of all sandboxes together"},
    QuantityRow{egress_bytes, "egress_bytes", "bytes to and from the network, ever"},
};

constexpr bool quantities_are_in_order() {
  for (std::size_t i = 0; i < kQuantities.size(); ++i) {
    if (static_cast<std::size_t>(kQuantities[i].quantity) != i) return false;
  }
  return true;
}
static_assert(quantities_are_in_order());

}  // namespace

std::span<const QuantityRow> all_quantities() noexcept { return kQuantities; }

std::string_view to_string(Quantity quantity) noexcept {
  return kQuantities[static_cast<std::size_t>(quantity)].name;
}

std::optional<Quantity> quantity_from(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kQuantities, name, &QuantityRow::name);
  if (found == kQuantities.end()) return std::nullopt;
  return found->quantity;
}

std::optional<Quantity> quantity_from(std::uint8_t number) noexcept {
  if (number >= kQuantities.size()) return std::nullopt;
  return kQuantities[number].quantity;
}

}  // namespace cordon::token
