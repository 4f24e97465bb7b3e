// SPDX-License-Identifier: Apache-2.0
// Who is at the other end of a connection, as far as the kernel and TLS can tell.
#pragma once

#include <optional>
#include <string>

#include "os/socket.h"

namespace cordon::http {

struct Peer {
  std::optional<os::PeerCredentials> local{};  // over a Unix socket only
  std::string address{};                       // over TCP only: "10.0.0.1"
  std::string certificate{};  // subject of the certificate that it has proven, in RFC 2253's form
};

}  // namespace cordon::http
