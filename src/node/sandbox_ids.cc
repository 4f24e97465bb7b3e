// SPDX-License-Identifier: Apache-2.0
#include "node/sandbox_ids.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/bytes.h"
#include "os/random.h"

namespace cordon::node {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kRandom = 10;
constexpr std::size_t kNamed = 1 + 2 + 4 + 4 + kRandom;  // what the MAC is over
constexpr std::size_t kAll = kNamed + 4;
constexpr std::size_t kLetters = kAll * 8 / 5;
static_assert(kAll % 5 == 0);

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
void put(std::array<std::byte, N>& into, std::size_t at, std::uint32_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    into[at + i] = static_cast<std::byte>(value >> 8U * (size - 1 - i) & 0xFFU);
  }
}

std::uint32_t get(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (const std::byte byte : bytes) value = value << 8U | std::to_integer<std::uint32_t>(byte);
  return value;
}

}  // namespace

// Not the key of tokens itself: what is said of an id says nothing about a token.
SandboxIds::SandboxIds(const token::AudienceKey& key, Place place)
    : key_{token::hmac(key.secret(), {as_bytes("cordon sandbox ids")})}, place_{place} {}

std::uint32_t SandboxIds::mac(std::span<const std::byte> bytes) const {
  return get(token::hmac(key_, {bytes}).bytes().first<4>());
}

Result<SandboxId> SandboxIds::make() const {
  std::array<std::byte, kAll> bytes{};
  put(bytes, 0, kVersion, 1);
  put(bytes, 1, place_.cell, 2);
  put(bytes, 3, place_.node, 4);
  put(bytes, 7, place_.epoch, 4);
  TRY(const auto random, os::random_bytes<kRandom>());
  std::ranges::copy(random, bytes.begin() + kNamed - kRandom);
  put(bytes, kNamed, mac(std::span{bytes}.first<kNamed>()), 4);
  return SandboxId::from_bytes(bytes);
}

std::optional<SandboxIds::Place> SandboxIds::read(const SandboxId& id) const {
  if (id.text().size() != kLetters) return std::nullopt;
  const std::vector<std::byte> held = from_base32(id.text());
  const std::span<const std::byte> bytes{held};
  if (std::to_integer<std::uint8_t>(bytes[0]) != kVersion) return std::nullopt;
  if (get(bytes.subspan(kNamed, 4)) != mac(bytes.first(kNamed))) return std::nullopt;
  return Place{static_cast<std::uint16_t>(get(bytes.subspan(1, 2))), get(bytes.subspan(3, 4)),
               get(bytes.subspan(7, 4))};
}

std::string launcher_name_of(std::string_view tenant) {
  const Digest digest = sha256({as_bytes(tenant)});
  return base32(std::span<const std::byte>{digest}.first(15));
}

}  // namespace cordon::node
