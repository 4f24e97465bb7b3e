// SPDX-License-Identifier: Apache-2.0
// A key as the one line of a file. The line says which kind it is, and the key's number: a node's
// key is never taken for a root, nor an old root for a new one.
//
//   cordon root key NUMBER HEX
//   cordon audience key NUMBER NAME HEX
#pragma once

#include <span>
#include <variant>

#include "base/result.h"
#include "base/wiped.h"
#include "token/key.h"

namespace cordon::token {

inline constexpr std::size_t kLongestKeyFile = 256;

// With a newline at the end.
WipedBytes key_file_text(const RootKey& key);
WipedBytes key_file_text(const AudienceKey& key);

using AnyKey = std::variant<RootKey, AudienceKey>;
// `invalid`: anything else than key_file_text() writes. Nothing of the text is in the message.
Result<AnyKey> parse_key_file(std::span<const std::byte> text);

}  // namespace cordon::token
