// SPDX-License-Identifier: Apache-2.0
// ClientHellos by hand, field by field, so that each field can be wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::egress {

// `value` in `size` bytes, the highest first.
inline std::string wire_number(std::size_t size, std::size_t value) {
  std::string bytes(size, '\0');
  for (std::size_t i = size; i-- > 0; value >>= 8U) bytes[i] = static_cast<char>(value & 0xFFU);
  return bytes;
}

// With its length before it.
inline std::string sized(std::size_t size, std::string_view data) {
  return wire_number(size, data.size()) + std::string{data};
}

inline std::string extension(std::uint16_t type, std::string_view data) {
  return wire_number(2, type) + sized(2, data);
}

inline std::string name_entry(std::uint8_t kind, std::string_view name) {
  return wire_number(1, kind) + sized(2, name);
}

inline std::string server_name(std::string_view name) {
  return extension(0, sized(2, name_entry(0, name)));
}

struct Hello {
  std::string version = "\x03\x03";
  std::string session;
  std::string suites = "\x13\x01";
  std::string compressions = std::string(1, '\0');
  std::optional<std::string> extensions = server_name("api.example.com");
  std::string trailing;

  std::string body() const {
    std::string all = version + std::string(32, 'r') + sized(1, session) + sized(2, suites) +
                      sized(1, compressions);
    if (extensions) all += sized(2, *extensions);
    return all + trailing;
  }
  std::string message() const { return "\x01" + sized(3, body()); }
};

inline std::string record(std::string_view fragment) { return "\x16\x03\x01" + sized(2, fragment); }

}  // namespace cordon::egress
