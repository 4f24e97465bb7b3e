// SPDX-License-Identifier: Apache-2.0
// Who asks: a token, or whoever the kernel says is at the other end of a Unix socket.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/head.h"
#include "http/peer.h"
#include "token/authority.h"
#include "token/key.h"
#include "token/verify.h"

namespace cordon::gate {

// Who asks.
struct Bearer {
  token::Authority authority;
  std::string key{};  // the id of the API key that was shown; empty: none was
};

// From a gateway: the ids of the right that it has made this one of, in hexadecimal digits and one
// space apart. With any of them taken back this one falls too. Whoever says so himself has less.
inline constexpr std::string_view kChainField = "Cordon-Chain";

// Whether what a chain names is believed: a node believes its gateways, and whoever asks a gateway
// has nothing to say of where his right comes from.
enum class Chains : bool { ignored, believed };

// The key of this text; nothing: there is none.
using FindKey = std::function<std::optional<Bearer>(std::string_view text)>;

class Gate {
 public:
  // Who sits at the Unix socket with one of `operators` needs no token: who may act as the node's
  // own user, or as root, could take its key. `clock` outlives it.
  Gate(std::vector<token::AudienceKey> keys, std::vector<std::uint32_t> operators,
       token::IsRevoked is_revoked, FindKey find_key, const Clock& clock,
       Chains chains = Chains::believed);

  // By `Authorization: Bearer`, with a token or an API key, or by `X-API-Key`, with a key, which
  // may have a token in it. `denied`, always with the same words. What is shown counts, also from
  // an operator.
  Result<Bearer> admit(const http::RequestHead& head, const http::Peer& peer) const;

  // What a token that is shown says of itself, whether or not it was taken back. `invalid`: it is
  // none of this node's, or has expired.
  Result<token::Authority> examine(std::string_view text) const;

 private:
  Result<Bearer> admit_shown(const http::RequestHead& head, const http::Peer& peer) const;
  Result<Bearer> by_key(std::string_view text) const;
  Result<Bearer> by_token(std::string_view text) const;

  std::vector<token::AudienceKey> keys_;
  std::vector<std::uint32_t> operators_;
  token::IsRevoked is_revoked_;
  FindKey find_key_;
  const Clock& clock_;
  Chains chains_;
};

}  // namespace cordon::gate
