// SPDX-License-Identifier: Apache-2.0
// Which images a node has at hand, in 64 bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace cordon::fleet {

// A hint: two images may share a bit. The same on every machine.
class WarmSet {
 public:
  WarmSet() = default;
  explicit WarmSet(std::uint64_t bits) : bits_{bits} {}

  void add(std::string_view image) noexcept { bits_ |= bit_of(image); }
  bool may_have(std::string_view image) const noexcept { return (bits_ & bit_of(image)) != 0; }
  std::uint64_t bits() const noexcept { return bits_; }
  friend bool operator==(WarmSet, WarmSet) = default;

 private:
  // FNV-1a, folded to six bits.
  static std::uint64_t bit_of(std::string_view image) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char letter : image) {
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    }
    return std::uint64_t{1} << ((hash ^ hash >> 32U) % 64U);
  }

  std::uint64_t bits_ = 0;
};

}  // namespace cordon::fleet
