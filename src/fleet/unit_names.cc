// SPDX-License-Identifier: Apache-2.0
#include "fleet/unit_names.h"

#include <cstring>
#include <random>
#include <span>
#include <utility>

#include "hash/sha256.h"

namespace cordon::fleet {
namespace {

// Of a cipher whose rounds are a good hash, four are as good as any number of them.
constexpr std::uint8_t kTurnsOver = 4;

}  // namespace

UnitNames::Key UnitNames::new_key() {
  std::random_device device;
  Key key{};
  for (std::byte& byte : key) byte = static_cast<std::byte>(device() & 0xFFU);
  return key;
}

std::uint32_t UnitNames::mixed(std::uint8_t round, std::uint32_t half) const {
  const auto digest =
      sha256({key_, std::as_bytes(std::span{&round, 1}), std::as_bytes(std::span{&half, 1})});
  std::uint32_t out = 0;
  std::memcpy(&out, digest.data(), sizeof out);
  return out;
}

std::uint64_t UnitNames::name_of(std::uint64_t number) const {
  auto high = static_cast<std::uint32_t>(number >> 32U);
  auto low = static_cast<std::uint32_t>(number);
  for (std::uint8_t round = 0; round < kTurnsOver; ++round) {
    high = std::exchange(low, high ^ mixed(round, low));
  }
  return std::uint64_t{high} << 32U | low;
}

std::uint64_t UnitNames::number_of(std::uint64_t name) const {
  auto high = static_cast<std::uint32_t>(name >> 32U);
  auto low = static_cast<std::uint32_t>(name);
  for (std::uint8_t round = kTurnsOver; round-- > 0;) {
    low = std::exchange(high, low ^ mixed(round, high));
  }
  return std::uint64_t{high} << 32U | low;
}

}  // namespace cordon::fleet
