// SPDX-License-Identifier: Apache-2.0
// MCP over HTTP: a message is a request, its answer JSON, or a stream where more is said before it.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "cli/mcp/http_door.h"
#include "cli/mcp/server.h"

namespace cordon::cli {

// Until a signal asks for the end. All outlive it.
asio::awaitable<void> serve_http(Server& server, HttpDoor door, const Context& context);

}  // namespace cordon::cli
