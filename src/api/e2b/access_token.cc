// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/access_token.h"

#include "base/bytes.h"
#include "hash/sha256.h"

namespace cordon::api::e2b {
namespace {

// Half of the digest: what is left can be guessed by nobody.
constexpr std::size_t kTokenBytes = 20;

std::string_view name_of(Door door) { return door == Door::services ? "services" : "traffic"; }

}  // namespace

AccessTokens::AccessTokens(const token::Secret& key)
    : key_{token::hmac(key, {as_bytes("cordon e2b access tokens")})} {}

std::string AccessTokens::of(std::string_view sandbox, Door door) const {
  const token::Secret mac =
      token::hmac(key_, {as_bytes(name_of(door)), as_bytes(":"), as_bytes(sandbox)});
  return to_hex(mac.bytes().first<kTokenBytes>());
}

bool AccessTokens::opens(std::string_view shown, std::string_view sandbox, Door door) const {
  const std::string right = of(sandbox, door);
  return token::same_bytes(sha256({as_bytes(shown)}), sha256({as_bytes(right)}));
}

}  // namespace cordon::api::e2b
