// SPDX-License-Identifier: Apache-2.0
// Where a node is: at a Unix socket, or at a port of this host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "async/task.h"
#include "base/result.h"
#include "os/fd.h"
#include "os/ip_address.h"

namespace cordon::cli {

inline constexpr std::string_view kUsualNode = "/run/cordond/cordond.sock";

struct NodeAddress {
  std::string path;    // of a Unix socket; empty: `host` and `port`
  os::IpAddress host;  // of this host's loopback
  std::uint16_t port = 0;
  friend bool operator==(const NodeAddress&, const NodeAddress&) = default;
};
std::string to_string(const NodeAddress& address);

// A path, "unix:PATH" or "http://ADDRESS:PORT". `invalid`: it is neither; or it is not on this host
// or asks for TLS, which is not spoken here: a token would go there for all on the way to read.
Result<NodeAddress> parse_node_address(std::string_view text);

// `unavailable`: nobody listens there. The words say what to do.
async::Task<os::Fd> connect_to(NodeAddress address);

}  // namespace cordon::cli
