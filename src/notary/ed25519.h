// SPDX-License-Identifier: Apache-2.0
// The one signature of audit logs: Ed25519, by libcrypto.
#pragma once

#include <memory>
#include <span>

#include "audit/head.h"
#include "base/result.h"

// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): libcrypto's own name
struct evp_pkey_st;

namespace cordon::notary {

inline constexpr std::size_t kSeedSize = 32;

class SigningKey {
 public:
  // Before: `seed` has kSeedSize random bytes.
  static Result<SigningKey> from(std::span<const std::byte> seed);

  const audit::PublicKey& public_key() const noexcept { return public_key_; }
  // Sets its key and its signature.
  Status sign(audit::Head& head) const;

 private:
  using Key = std::unique_ptr<evp_pkey_st, void (*)(evp_pkey_st*)>;
  SigningKey(Key key, const audit::PublicKey& public_key)
      : key_{std::move(key)}, public_key_{public_key} {}
  Key key_;
  audit::PublicKey public_key_;
};

// Whether it was signed with the key that it names.
bool is_signed(const audit::Head& head);

}  // namespace cordon::notary
