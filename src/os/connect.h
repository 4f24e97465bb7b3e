// SPDX-License-Identifier: Apache-2.0
// Connecting over TCP without waiting for it.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/ip_address.h"

namespace cordon::os {

// Before: the socket is of the address's family and does not block. It is writable once it is
// connected, or has failed: has_connected() says which.
Status begin_connect(int socket, const IpAddress& address, std::uint16_t port);

// How it ended; asked once.
Status has_connected(int socket);

}  // namespace cordon::os
