// SPDX-License-Identifier: Apache-2.0
// Messages of DNS by hand: bytes from hexadecimal digits, and queries field by field.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace cordon::egress {

using Bytes = std::vector<std::byte>;

// Whatever is no digit separates: "33a2 0120".
inline Bytes from_hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  Bytes bytes;
  int high = -1;
  for (const char c : text) {
    if (std::string_view{"0123456789abcdef"}.find(c) == std::string_view::npos) continue;
    if (high < 0) {
      high = digit(c);
    } else {
      bytes.push_back(static_cast<std::byte>(high * 16 + digit(c)));
      high = -1;
    }
  }
  return bytes;
}

// Labels with their lengths, and the root.
inline std::string wire_name(std::string_view dotted) {
  std::string wire;
  while (!dotted.empty()) {
    const auto label = dotted.substr(0, dotted.find('.'));
    wire += static_cast<char>(label.size());
    wire += label;
    dotted.remove_prefix(std::min(label.size() + 1, dotted.size()));
  }
  return wire + '\0';
}

// A query for type A of class IN: what the tests change, they change in these strings.
struct Raw {
  std::string header{"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12};
  std::string name = wire_name("api.example.com");
  std::string fixed{"\x00\x01\x00\x01", 4};
  std::string rest;

  Bytes bytes() const {
    const std::string all = header + name + fixed + rest;
    const auto raw = as_bytes(all);
    return {raw.begin(), raw.end()};
  }
};

// With an OPT record: the root, its type, 1,232 bytes, code 0, version 0, no flag, no option.
inline Raw with_opt() {
  Raw raw;
  raw.header[11] = 1;
  raw.rest = std::string{"\x00\x00\x29\x04\xD0\x00\x00\x00\x00\x00\x00", 11};
  return raw;
}

}  // namespace cordon::egress
