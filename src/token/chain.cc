// SPDX-License-Identifier: Apache-2.0
#include "token/chain.h"

#include <algorithm>
#include <string_view>

#include "base/bytes.h"

namespace cordon::token {
namespace {

using namespace std::string_view_literals;

// What each MAC and digest is about: none can be taken for another.
constexpr std::string_view kAboutHeader = "cordon token header\0"sv;
constexpr std::string_view kAboutCaveat = "cordon token caveat\0"sv;
constexpr std::string_view kAboutRevocation = "cordon revocation\0"sv;

}  // namespace

Secret first_tag(const Secret& audience_key, Bytes header) noexcept {
  return hmac(audience_key, {as_bytes(kAboutHeader), header});
}

Secret next_tag(const Secret& tag, Bytes caveat) noexcept {
  return hmac(tag, {as_bytes(kAboutCaveat), caveat});
}

RevocationId revocation_id(std::span<const std::byte, kDigestSize> tag) noexcept {
  const Digest digest = sha256({as_bytes(kAboutRevocation), tag});
  RevocationId id{};
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

Result<RevocationId> revocation_id_from(std::string_view text) {
  RevocationId id{};
  if (from_hex(text, id)) return id;
  return Error{Errc::invalid,
               "a revocation id has 32 hexadecimal digits; see cordon token inspect"};
}

}  // namespace cordon::token
