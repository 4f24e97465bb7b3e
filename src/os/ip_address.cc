// SPDX-License-Identifier: Apache-2.0
// inet_pton and inet_ntop.
#include "os/ip_address.h"

#include <algorithm>
#include <arpa/inet.h>

namespace cordon::os {

Result<IpAddress> IpAddress::parse(const std::string& text) {
  IpAddress address;
  if (::inet_pton(AF_INET, text.c_str(), address.bytes_.data()) == 1) return address;
  address.size_ = 16;
  if (::inet_pton(AF_INET6, text.c_str(), address.bytes_.data()) == 1) return address;
  return Error{Errc::invalid, "no IP address: " + text};
}

IpAddress IpAddress::v4(std::array<std::uint8_t, 4> bytes) {
  IpAddress address;
  std::ranges::copy(bytes, address.bytes_.begin());
  return address;
}

IpAddress IpAddress::v6(std::array<std::uint8_t, 16> bytes) {
  IpAddress address;
  address.bytes_ = bytes;
  address.size_ = bytes.size();
  return address;
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(is_v6() ? AF_INET6 : AF_INET, bytes_.data(), text.data(), text.size());
  return text.data();
}

std::string to_string(const IpBlock& block) {
  return block.address.text() + "/" + std::to_string(block.prefix);
}

}  // namespace cordon::os
