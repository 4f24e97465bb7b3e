// SPDX-License-Identifier: Apache-2.0
// Keys and tokens for tests: always the same.
#pragma once

#include <array>
#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "token/token.h"
#include "token/verify.h"

namespace cordon::token {

inline Secret secret_from(unsigned seed) {
  Digest bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(seed + i * 3);
  return Secret{bytes};
}

inline AudienceKey key_of(const std::string& audience, std::uint8_t number = 1, unsigned seed = 5) {
  return *RootKey{secret_from(seed), number}.derive(audience);
}

inline std::array<std::byte, kIdSize> random_of(unsigned seed) {
  std::array<std::byte, kIdSize> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(seed + i);
  return bytes;
}

inline constexpr std::chrono::sys_seconds kNow{std::chrono::seconds{1'800'000'000}};

inline std::chrono::sys_seconds in_seconds(int seconds) {
  return kNow + std::chrono::seconds{seconds};
}

inline SandboxId sandbox(const std::string& text) { return *SandboxId::parse(text); }

inline OperationSet set_of(std::initializer_list<Operation> operations) {
  OperationSet set;
  for (const Operation each : operations) set.add(each);
  return set;
}

// A token of tenant `acme` for the audience `node-a`, for an hour, with `more` caveats.
inline std::string token_with(std::vector<Caveat> more = {}, bool is_operator = false) {
  Minted minted{.is_operator = is_operator};
  if (!is_operator) minted.caveats = {TenantIs{"acme"}, ExpiresAt{in_seconds(3600)}};
  minted.caveats.insert(minted.caveats.end(), more.begin(), more.end());
  const auto text = mint(key_of("node-a"), random_of(1), minted);
  EXPECT_TRUE(text) << text.error().text();
  return text ? *text : std::string{};
}

struct Tried {
  Result<Authority> authority;
  Refused refused;
};

inline Tried try_at_node(std::string_view text, std::chrono::sys_seconds now = kNow,
                         IsRevoked is_revoked = {}) {
  static const std::array<AudienceKey, 1> kKeys{key_of("node-a")};
  Refused refused;
  auto authority =
      verify(text, {.keys = kKeys, .now = now, .is_revoked = std::move(is_revoked)}, &refused);
  return {std::move(authority), refused};
}

}  // namespace cordon::token
