// SPDX-License-Identifier: Apache-2.0
// Bytes both ways between a client inside and a server outside, within the sandbox's budget.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "async/task.h"
#include "egress/budget.h"
#include "egress/hello_watch.h"
#include "os/conduit.h"

namespace cordon::egress {

struct Relayed {
  std::uint64_t out = 0;
  std::uint64_t in = 0;
  // Why we cut it: `exhausted` by the budget, `denied` by a second hello, `timeout` for its
  // silence. Else its two ends have ended it.
  std::optional<Error> cut;
};

struct RelayTerms {
  EgressBudget& budget;         // outlives the relay
  HelloWatch* watch = nullptr;  // of TLS that is passed through
  // Shared by all relays of the loop; null: bytes are copied. Those of a connection that are looked
  // at are, in any case, and the first ones: few bytes are not worth the detour.
  os::Conduit* conduit = nullptr;
  // Nothing moved for so long: the connection is dead, or held to hold something of ours.
  std::chrono::seconds idle{900};
};

// Sends `first`, which was read from the client, and then passes on what comes, within the budget.
// Ends when both directions have. A cut connection is reset on both sides.
asio::awaitable<Relayed> relay(asio::ip::tcp::socket& client, asio::ip::tcp::socket& server,
                               std::string first, RelayTerms terms);

}  // namespace cordon::egress
