// SPDX-License-Identifier: Apache-2.0
// inet_pton and inet_ntop.
#include "os/ip_address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <netinet/in.h>

namespace cordon::os {

Result<IpAddress> IpAddress::parse(const std::string& text) {
  IpAddress address;
  if (::inet_pton(AF_INET, text.c_str(), address.bytes_.data()) == 1) return address;
  address.size_ = 16;
  if (::inet_pton(AF_INET6, text.c_str(), address.bytes_.data()) == 1) return address;
  return Error{Errc::invalid, "no IP address: " + text};
}

std::optional<IpAddress> IpAddress::of(const sockaddr& name) {
  if (name.sa_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &name, sizeof four);
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &four.sin_addr, bytes.size());
    return v4(bytes);
  }
  if (name.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 six{};
  std::memcpy(&six, &name, sizeof six);
  std::array<std::uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
  return v6(bytes);
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
  if (!is_v6()) {  // each connection is told with its address: inet_ntop would print it by a format
    std::array<char, INET_ADDRSTRLEN> text{};
    char* end = text.data();
    for (const std::uint8_t byte : bytes()) {
      if (end != text.data()) *end++ = '.';
      end = std::to_chars(end, text.data() + text.size(), byte).ptr;
    }
    return {text.data(), end};
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, bytes_.data(), text.data(), text.size());
  return text.data();
}

std::string to_string(const IpBlock& block) {
  return block.address.text() + "/" + std::to_string(block.prefix);
}

}  // namespace cordon::os
