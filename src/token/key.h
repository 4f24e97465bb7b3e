// SPDX-License-Identifier: Apache-2.0
// The keys under which tokens are minted: a root, and what is derived from it for one audience.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "token/mac.h"

namespace cordon::token {

inline constexpr std::size_t kLongestAudience = 32;

// Lower-case letters, digits and hyphens, a letter or digit first, at most `longest`.
bool is_name(std::string_view text, std::size_t longest) noexcept;

// Mints and verifies tokens of one audience, and cannot tell the key of another: a node holds this
// and no root. There may be several of one audience, with different numbers, while keys change.
class AudienceKey {
 public:
  // Before: is_name(audience, kLongestAudience).
  AudienceKey(std::string audience, std::uint8_t number, Secret secret);

  const std::string& audience() const noexcept { return audience_; }
  std::uint8_t number() const noexcept { return number_; }
  // For MACs and for the file that it is kept in.
  const Secret& secret() const noexcept { return secret_; }

 private:
  std::string audience_;
  std::uint8_t number_;
  Secret secret_;
};

// Whoever holds it can mint any token of any audience.
class RootKey {
 public:
  explicit RootKey(Secret secret, std::uint8_t number = 1)
      : secret_{std::move(secret)}, number_{number} {}

  Result<AudienceKey> derive(std::string_view audience) const;

  std::uint8_t number() const noexcept { return number_; }
  // For the file that it is kept in.
  const Secret& secret() const noexcept { return secret_; }

 private:
  Secret secret_;
  std::uint8_t number_;
};

}  // namespace cordon::token
