// SPDX-License-Identifier: Apache-2.0
// One connection of a sandbox: named by its address, judged, and only then read.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "async/task.h"

namespace cordon::egress {

class Ward;

// Returns when it has ended. A connection that is refused is reset before a byte of it is read, or
// anything is sent outside.
asio::awaitable<void> serve_connection(Ward& ward, asio::ip::tcp::socket client);

}  // namespace cordon::egress
