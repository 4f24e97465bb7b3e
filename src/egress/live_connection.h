// SPDX-License-Identifier: Apache-2.0
// A connection that is open, as far as others may have to end it: a narrower policy, a revocation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "policy/policy.h"

namespace cordon::egress {

// A request that was judged and has not ended: its body or its answer is on its way, or it has
// become a WebSocket.
struct LiveRequest {
  std::string method;
  std::string path;
  bool websocket = false;
  std::string grant{};  // whose credential it carries; empty: none
};

struct LiveConnection {
  std::string host;
  std::uint16_t port = 0;
  policy::Passage passage{};  // by which it is served
  // That is being dialled, or was, as a deny-list names it; empty: none yet.
  std::string address{};
  // Closes what it has open, at once: not a byte follows.
  std::function<void()> close;
  std::set<std::string> grants{};  // whose credentials it has carried
  std::optional<LiveRequest> request{};
  bool ended = false;  // by finish()

  // For good. Whoever serves it looks at `ended` after each wait, before anything is sent.
  void finish() {
    ended = true;
    close();
  }
};

// Whether a connection that was opened under another policy is one that `policy` would have opened
// alike, and its request one that it would have let pass.
bool still_allows(const policy::Policy& policy, const LiveConnection& connection);

}  // namespace cordon::egress
