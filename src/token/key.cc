// SPDX-License-Identifier: Apache-2.0
#include "token/key.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/bytes.h"

namespace cordon::token {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kDerives = "cordon token v1\0"sv;

}  // namespace

bool is_name(std::string_view text, std::size_t longest) noexcept {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= longest && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || c == '-'; });
}

AudienceKey::AudienceKey(std::string audience, std::uint8_t number, Secret secret)
    : audience_{std::move(audience)}, number_{number}, secret_{std::move(secret)} {
  assert(is_name(audience_, kLongestAudience));
}

Result<AudienceKey> RootKey::derive(std::string_view audience) const {
  if (!is_name(audience, kLongestAudience)) {
    return Error{Errc::invalid, "an audience is a name of 1 to 32 of a-z, 0-9 and -"};
  }
  return AudienceKey{std::string{audience}, number_,
                     hmac(secret_, {as_bytes(kDerives), as_bytes(audience)})};
}

}  // namespace cordon::token
