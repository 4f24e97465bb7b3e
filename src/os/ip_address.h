// SPDX-License-Identifier: Apache-2.0
// An IPv4 or IPv6 address as bytes, and a block of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

struct sockaddr;

namespace cordon::os {

class IpAddress {
 public:
  // "10.0.0.1", "fd00::1": exactly as inet_pton takes it, no zone, no port.
  static Result<IpAddress> parse(const std::string& text);
  // Of a name of either family; nothing for another.
  static std::optional<IpAddress> of(const sockaddr& name);
  static IpAddress v4(std::array<std::uint8_t, 4> bytes);
  static IpAddress v6(std::array<std::uint8_t, 16> bytes);

  bool is_v6() const noexcept { return size_ == 16; }
  std::span<const std::uint8_t> bytes() const noexcept { return {bytes_.data(), size_}; }
  std::uint8_t bits() const noexcept { return static_cast<std::uint8_t>(size_ * 8); }
  std::string text() const;

  friend bool operator==(const IpAddress&, const IpAddress&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
  std::size_t size_ = 4;
};

// `prefix` leading bits of `address` are meant; for an interface's own address also its network.
struct IpBlock {
  IpAddress address;
  std::uint8_t prefix = 0;
};
std::string to_string(const IpBlock& block);  // "10.0.0.0/8"

}  // namespace cordon::os
