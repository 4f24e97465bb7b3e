// SPDX-License-Identifier: Apache-2.0
#include "token/sandbox_name.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"

namespace cordon::token {
namespace {

constexpr std::uint8_t kNameVersion = 1;
constexpr std::size_t kNameRandom = SandboxNames::kRandom;
constexpr std::size_t kUnderMac = 1 + 2 + 4 + 4 + kNameRandom;  // what the MAC is over
constexpr std::size_t kNameBytes = kUnderMac + 4;
constexpr std::size_t kNameLetters = kNameBytes * 8 / 5;
static_assert(kNameBytes % 5 == 0);

// Before: base-32 letters, as many as whole bytes have.
std::vector<std::byte> from_base32(std::string_view text) {
  std::vector<std::byte> bytes;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char letter : text) {
    const int value = letter >= 'a' ? letter - 'a' : letter - '2' + 26;
    held = held << 5U | static_cast<std::uint32_t>(value);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::byte>(held >> bits & 0xFFU));
    held &= (1U << bits) - 1U;
  }
  return bytes;
}

template <std::size_t N>
void put_number(std::array<std::byte, N>& into, std::size_t at, std::uint32_t value,
                std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    into[at + i] = static_cast<std::byte>(value >> 8U * (size - 1 - i) & 0xFFU);
  }
}

std::uint32_t number_at(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (const std::byte byte : bytes) value = value << 8U | std::to_integer<std::uint32_t>(byte);
  return value;
}

// The bytes of a name; empty: it is none.
std::vector<std::byte> bytes_of(const SandboxId& id) {
  if (id.text().size() != kNameLetters) return {};
  std::vector<std::byte> held = from_base32(id.text());
  if (std::to_integer<std::uint8_t>(held[0]) != kNameVersion) held.clear();
  return held;
}

SandboxPlace place_in(std::span<const std::byte> bytes) {
  return {static_cast<std::uint16_t>(number_at(bytes.subspan(1, 2))),
          number_at(bytes.subspan(3, 4)), number_at(bytes.subspan(7, 4))};
}

}  // namespace

// Not the key of tokens itself: what is said of an id says nothing about a token.
SandboxNames::SandboxNames(const AudienceKey& key)
    : key_{hmac(key.secret(), {as_bytes("cordon sandbox ids")})} {}

std::uint32_t SandboxNames::mac(std::span<const std::byte> bytes) const {
  return number_at(hmac(key_, {bytes}).bytes().first<4>());
}

SandboxId SandboxNames::make(const SandboxPlace& place,
                             std::span<const std::byte, kNameRandom> random) const {
  std::array<std::byte, kNameBytes> bytes{};
  put_number(bytes, 0, kNameVersion, 1);
  put_number(bytes, 1, place.cell, 2);
  put_number(bytes, 3, place.node, 4);
  put_number(bytes, 7, place.epoch, 4);
  std::ranges::copy(random, bytes.begin() + kUnderMac - kNameRandom);
  put_number(bytes, kUnderMac, mac(std::span{bytes}.first<kUnderMac>()), 4);
  return SandboxId::from_bytes(bytes);
}

std::optional<SandboxPlace> SandboxNames::read(const SandboxId& id) const {
  const std::vector<std::byte> held = bytes_of(id);
  const std::span<const std::byte> bytes{held};
  if (bytes.empty() || number_at(bytes.subspan(kUnderMac, 4)) != mac(bytes.first(kUnderMac))) {
    return std::nullopt;
  }
  return place_in(bytes);
}

std::optional<SandboxPlace> claimed_place(const SandboxId& id) {
  const std::vector<std::byte> held = bytes_of(id);
  if (held.empty()) return std::nullopt;
  return place_in(held);
}

std::string audience_of_node(std::uint16_t cell, std::uint32_t node) {
  return fmt::format("node-{}-{}", cell, node);
}

}  // namespace cordon::token
