// SPDX-License-Identifier: Apache-2.0
// Base-32 by bits: five at a time, the last group filled with zeros.
#include "base/id.h"

#include <algorithm>
#include <cstdint>

namespace cordon {
namespace {
constexpr std::string_view kBase32Digits = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t kLongest = 52;  // 32 bytes; with a prefix still a valid DNS label of 63
}  // namespace

std::string base32(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() * 8 + 4) / 5);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const std::byte byte : bytes) {
    held = (held << 8U) | std::to_integer<std::uint32_t>(byte);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += kBase32Digits[(held >> bits) & 31U];
    }
  }
  if (bits > 0) text += kBase32Digits[(held << (5 - bits)) & 31U];
  return text;
}

bool is_base32_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kLongest &&
         std::ranges::all_of(text, [](char c) { return kBase32Digits.contains(c); });
}

}  // namespace cordon
