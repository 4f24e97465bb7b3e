// SPDX-License-Identifier: Apache-2.0
// Opaque bytes both ways, after an upgrade that a rule allows.
#pragma once

#include <cstdint>

#include "egress/http_gate.h"
#include "egress/inbox.h"

namespace cordon::egress {

struct TunnelEnd {
  Inbox& inbox;
  http::Stream& stream;
};

// Returns when both sides have ended what they say, or one has broken off, is silent for too long,
// or the budget is spent. Gives the bytes moved.
struct TunnelUse {
  std::uint64_t out = 0;
  std::uint64_t in = 0;
};
asio::awaitable<TunnelUse> tunnel(TunnelEnd client, TunnelEnd host, HttpGate& gate);

}  // namespace cordon::egress
