// SPDX-License-Identifier: Apache-2.0
// Numbers of units as others see them: none tells the next, so that nobody can speak of units that
// went to somebody else (pure).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cordon::fleet {

class UnitNames {
 public:
  using Key = std::array<std::byte, 32>;
  static Key new_key();

  explicit UnitNames(const Key& key) : key_{key} {}

  // One to one, and back.
  std::uint64_t name_of(std::uint64_t number) const;
  std::uint64_t number_of(std::uint64_t name) const;

 private:
  std::uint32_t mixed(std::uint8_t round, std::uint32_t half) const;

  Key key_;
};

}  // namespace cordon::fleet
