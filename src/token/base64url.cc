// SPDX-License-Identifier: Apache-2.0
#include "token/base64url.h"

#include <array>
#include <cstdint>

namespace cordon::token {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNone = 0xff;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

}  // namespace

std::string to_base64url(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const std::byte byte : bytes) {
    held = (held << 8U) | std::to_integer<std::uint32_t>(byte);
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += kAlphabet[(held >> bits) & 63U];
    }
  }
  if (bits > 0) text += kAlphabet[(held << (6 - bits)) & 63U];
  return text;
}

Result<WipedBytes> from_base64url(std::string_view text) {
  WipedBytes bytes(text.size() * 3 / 4);
  std::size_t filled = 0;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kNone) return Error{Errc::invalid, "a character that base64url does not have"};
    held = (held << 6U) | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[filled++] = static_cast<std::byte>((held >> bits) & 255U);
  }
  if (bits >= 6) return Error{Errc::invalid, "base64url that ends too early"};
  if ((held & ((1U << bits) - 1)) != 0) return Error{Errc::invalid, "bits set behind the end"};
  return bytes;
}

}  // namespace cordon::token
