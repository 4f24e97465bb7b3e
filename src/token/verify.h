// SPDX-License-Identifier: Apache-2.0
// From a text that anyone may have sent to what its bearer may do.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "token/authority.h"
#include "token/key.h"

namespace cordon::token {

enum class Fault : std::uint8_t {
  malformed,  // not a token
  audience,   // made for somebody else
  key,        // made under a key that is no longer, or not yet, held
  tag,        // forged, or changed
  caveat,     // one that this version does not know, or not within its bounds
  expired,
  revoked,
  nobody,  // no tenant, or two
};
std::string_view to_string(Fault fault) noexcept;

// For the log: nothing of the token is in it.
struct Refused {
  Fault fault = Fault::malformed;
  unsigned macs = 0;  // how many were computed: the same number whatever was forged
};

// Before: asked only of tokens whose tag is right.
using IsRevoked = std::function<bool(const RevocationId&)>;

struct Verifier {
  std::span<const AudienceKey> keys;
  std::chrono::sys_seconds now;
  IsRevoked is_revoked;
};

// Clients are told one thing, `denied` with the words "unauthenticated", whatever was wrong; what
// it was is in `refused`, where it is given. Until the tag has been found right nothing of the
// token is read but lengths and header, and all that is not right costs the same MACs: neither the
// words nor the time tell which audiences and keys there are, or how much of a tag was guessed.
Result<Authority> verify(std::string_view text, const Verifier& verifier,
                         Refused* refused = nullptr);

}  // namespace cordon::token
