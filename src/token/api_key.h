// SPDX-License-Identifier: Apache-2.0
// Long-lived keys: random texts that stand for a token which the node keeps, so that they can be
// taken back without knowing them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "token/mac.h"

namespace cordon::token {

inline constexpr std::string_view kApiKeyPrefix = "cdnk_";
inline constexpr std::size_t kApiKeyBytes = 32;
// The same key for clients that want theirs in hexadecimal digits.
inline constexpr std::string_view kE2bKeyPrefix = "e2b_";

// `random`: fresh from the kernel. Shown once, to whom it is given, and kept nowhere.
std::string api_key_from(std::span<const std::byte, kApiKeyBytes> random);

// Before: `text` is a key as api_key_from gives it.
std::string e2b_key_of(std::string_view text);

// A token as clients take it that want digits there. Such a key is kept nowhere: it is known by its
// tag wherever the token is, also in a fleet.
std::string e2b_key_of_token(std::string_view token);
// Nothing: the key is none that has a token in it.
std::optional<std::string> token_in_e2b_key(std::string_view key);

// What is kept, and looked up by: it leads to no key. `invalid`: not a key in one of its two
// spellings.
Result<Digest> api_key_digest(std::string_view text);

}  // namespace cordon::token
