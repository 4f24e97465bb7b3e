// SPDX-License-Identifier: Apache-2.0
#include "token/api_key.h"

#include <array>

#include "base/bytes.h"
#include "base/id.h"
#include "token/layout.h"

namespace cordon::token {
namespace {

constexpr std::size_t kApiKeyDigits = (kApiKeyBytes * 8 + 4) / 5;
static_assert(kApiKeyBytes * 8 % 5 == 1, "the last digit has one bit");

bool is_api_key(std::string_view text) {
  if (!text.starts_with(kApiKeyPrefix)) return false;
  text.remove_prefix(kApiKeyPrefix.size());
  return text.size() == kApiKeyDigits && is_base32_name(text) &&
         (text.back() == 'a' || text.back() == 'q');
}

}  // namespace

std::string api_key_from(std::span<const std::byte, kApiKeyBytes> random) {
  return std::string{kApiKeyPrefix} + base32(random);
}

std::string e2b_key_of(std::string_view text) {
  return std::string{kE2bKeyPrefix} + to_hex(as_bytes(text.substr(kApiKeyPrefix.size())));
}

std::string e2b_key_of_token(std::string_view token) {
  return std::string{kE2bKeyPrefix} + to_hex(as_bytes(token));
}

std::optional<std::string> token_in_e2b_key(std::string_view key) {
  if (!key.starts_with(kE2bKeyPrefix)) return std::nullopt;
  key.remove_prefix(kE2bKeyPrefix.size());
  std::string token(key.size() / 2, '\0');
  if (!from_hex(key, std::as_writable_bytes(std::span{token}))) return std::nullopt;
  if (!token.starts_with(kTokenPrefix)) return std::nullopt;
  return token;
}

Result<Digest> api_key_digest(std::string_view text) {
  if (text.starts_with(kE2bKeyPrefix)) {
    std::array<std::byte, kApiKeyDigits> letters{};
    if (from_hex(text.substr(kE2bKeyPrefix.size()), letters)) {
      const std::string plain = std::string{kApiKeyPrefix} + std::string{as_text(letters)};
      // Hexadecimal digits have two cases, and one is the key's.
      if (is_api_key(plain) && e2b_key_of(plain) == text) return sha256({as_bytes(plain)});
    }
    return Error{Errc::invalid, "not an API key of Cordon"};
  }
  if (!is_api_key(text)) return Error{Errc::invalid, "not an API key of Cordon"};
  return sha256({as_bytes(text)});
}

}  // namespace cordon::token
