// SPDX-License-Identifier: Apache-2.0
// What a server allows its clients, how long it waits for them, and what it has counted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "http/head.h"

namespace cordon::http {

struct ServerTimes {
  std::chrono::nanoseconds handshake = std::chrono::seconds{5};  // of TLS, in all
  std::chrono::nanoseconds head = std::chrono::seconds{10};      // from its first byte to its last
  std::chrono::nanoseconds idle = std::chrono::seconds{60};      // between requests
  std::chrono::nanoseconds body = std::chrono::seconds{30};      // of silence, and of grace below
  std::chrono::nanoseconds write = std::chrono::seconds{30};     // of a client that does not read
  std::chrono::nanoseconds linger = std::chrono::seconds{2};     // to read why it was refused
  std::chrono::nanoseconds gone = std::chrono::milliseconds{500};  // between looks for the vanished
};

struct ServerLimits {
  std::size_t connections = 4096;
  std::size_t per_address = 256;  // over TCP; of IPv6 the first 64 bits count
  HeadLimits head{.bytes = std::size_t{16} << 10U, .fields = 100, .target = std::size_t{8} << 10U};
  std::uint64_t rate = 1024;                         // bytes a second, of bodies both ways
  std::uint64_t drained = std::uint64_t{64} << 10U;  // of a body nobody read, to keep a connection
};

// Since the server was made, but for `connections`, which is now.
struct ServerCounts {
  std::uint64_t connections = 0;
  std::uint64_t accepted = 0;
  std::uint64_t requests = 0;         // whose head was read
  std::uint64_t turned_away = 0;      // connections, because there were too many
  std::uint64_t over_address = 0;     // connections, because there were too many of one address
  std::uint64_t out_of_files = 0;     // times that no descriptor was left to accept with
  std::uint64_t failed_tls = 0;       // handshakes
  std::uint64_t refused_heads = 0;    // that the parser did not take
  std::uint64_t late_heads = 0;       // that did not come in time
  std::uint64_t refused_bodies = 0;   // too long, too slow or malformed
  std::uint64_t failed_handlers = 0;  // that threw, or ended without an answer
  std::uint64_t gone = 0;             // clients that left while their request was served
};

}  // namespace cordon::http
