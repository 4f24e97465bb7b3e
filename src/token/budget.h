// SPDX-License-Identifier: Apache-2.0
// What a token may use up: a closed list of quantities with stable names and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace cordon::token {

// The numbers are part of tokens: new ones go to the end, none is ever used again.
enum class Quantity : std::uint8_t {
  sandboxes = 0,
  creates_per_minute = 1,
  processes = 2,
  milli_cpus = 3,
  memory_bytes = 4,
  disk_bytes = 5,
  egress_bytes = 6,
};

struct QuantityRow {
  Quantity quantity;
  std::string_view name;
  std::string_view meaning;
};

// In the order of their numbers, which are 0, 1, 2, …
std::span<const QuantityRow> all_quantities() noexcept;
std::string_view to_string(Quantity quantity) noexcept;
std::optional<Quantity> quantity_from(std::string_view name) noexcept;
std::optional<Quantity> quantity_from(std::uint8_t number) noexcept;

}  // namespace cordon::token
