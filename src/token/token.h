// SPDX-License-Identifier: Apache-2.0
// Tokens as texts: minting them under a key, narrowing them without one, and reading what they say.
// A token is a bearer's right: it belongs in no log and in no argument of a command.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "token/caveat.h"
#include "token/chain.h"
#include "token/key.h"

namespace cordon::token {

struct Minted {
  // May act for every tenant and on the node itself. No caveat gives it, each takes of it.
  bool is_operator = false;
  std::vector<Caveat> caveats;
};

// `random`: fresh from the kernel, for this token alone. `invalid`: a caveat is not within its
// bounds, or, of a token that is not an operator's, tenant or expiry is missing: such a token would
// be worth nothing, or could be revoked only by remembering it for ever.
Result<std::string> mint(const AudienceKey& key, std::span<const std::byte, kIdSize> random,
                         const Minted& minted);

// `text` with more caveats behind its own. Needs no key and knows none: whether `text` was ever
// valid shows where it is used.
Result<std::string> attenuate(std::string_view text, std::span<const Caveat> caveats);

// What a token says of itself, true or not.
struct Contents {
  std::string audience;
  std::uint8_t key_number = 0;
  bool is_operator = false;
  std::vector<Caveat> caveats;
  RevocationId revocation{};
};
Result<Contents> read(std::string_view text);

}  // namespace cordon::token
