// SPDX-License-Identifier: Apache-2.0
// Where a connection goes: fixed before its first byte was read.
#pragma once

#include <cstdint>
#include <string>

namespace cordon::egress {

struct Destination {
  std::string name;  // in its one spelling
  std::uint16_t port = 443;
  bool tls = true;  // towards the client and towards the host, or towards neither

  friend bool operator==(const Destination&, const Destination&) = default;
};

}  // namespace cordon::egress
