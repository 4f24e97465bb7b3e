// SPDX-License-Identifier: Apache-2.0
// MCP over standard input and output: a message is a line.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "async/scope.h"
#include "cli/mcp/server.h"

namespace cordon::cli {

// Longer lines are answered with an error, and passed over.
inline constexpr std::size_t kLongestMessage = std::size_t{4} << 20U;

// Until the input ends, the reader of the output has gone, or a signal asks for the end; then what
// was asked for has been cancelled. All outlive it.
asio::awaitable<void> serve_stdio(Server& server);

}  // namespace cordon::cli
