// SPDX-License-Identifier: Apache-2.0
// Serves one connection whose requests are decided one by one.
#pragma once

#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "egress/certificate_authority.h"
#include "egress/destination.h"
#include "egress/http_gate.h"
#include "egress/http_times.h"
#include "egress/tls.h"

namespace cordon::egress {

// A client, and what was read of it already: its ClientHello, say.
struct HttpArrival {
  asio::ip::tcp::socket socket;
  std::string before;
};

// What terminates TLS; both outlive the connection. Not used for destinations without TLS.
struct HttpTls {
  const TlsServer& server;
  const TlsClient& client;
};

// Returns when the connection has ended. Cancelled (a policy was narrowed, a grant revoked, the
// sandbox is gone), it ends both sides at once. `leaf` is for `to.name`, and needed only until this
// first waits; null pointers where the destination has no TLS. `gate` outlives it.
//
// Per connection: two buffers of 16 KiB for what comes in, two of at most 32 KiB for what goes out,
// heads of at most 128 KiB, and OpenSSL's own.
asio::awaitable<void> serve_http(HttpArrival client, Destination to, Leaf leaf, HttpTls tls,
                                 HttpGate& gate, HttpTimes times = {});

}  // namespace cordon::egress
