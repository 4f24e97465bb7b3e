// SPDX-License-Identifier: Apache-2.0
// The chain of MACs: the tag of a token is the key of the next caveat, so that whoever holds a
// token can add one, and nobody can take one off.
#pragma once

#include "base/result.h"
#include "token/key.h"
#include "token/layout.h"
#include "token/mac.h"

namespace cordon::token {

using RevocationId = std::array<std::byte, 16>;

Secret first_tag(const Secret& audience_key, Bytes header) noexcept;
Secret next_tag(const Secret& tag, Bytes caveat) noexcept;

// Names the token with this tag, and all that were derived from it; tells nothing of the tag.
RevocationId revocation_id(std::span<const std::byte, kDigestSize> tag) noexcept;

// 32 hexadecimal digits, as `cordon token inspect` prints them.
Result<RevocationId> revocation_id_from(std::string_view text);

}  // namespace cordon::token
