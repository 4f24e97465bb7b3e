// SPDX-License-Identifier: Apache-2.0
// Where an MCP server listens for HTTP, and who may come in: programs of this machine that hold the
// token, and no page of a browser that another site sent.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/mcp/serve_options.h"
#include "cli/verbs.h"
#include "hash/sha256.h"
#include "http/head.h"
#include "os/fd.h"

namespace cordon::cli {

// A socket that listens, and who may speak there.
struct HttpDoor {
  os::Fd socket;
  Digest token{};        // what clients show has this hash
  std::string own_path;  // of a Unix socket, which is removed at the end
};

// Only at addresses of this machine. A token that is new is told on the error stream, once.
Result<HttpDoor> open_door(const ServeOptions& options, const Context& context);

// The status that refuses a request; 0: it may come in. Host and Origin are those of this machine,
// so that no page of another site can speak here by a name that leads to us (DNS rebinding).
int refusal_of(const http::RequestHead& head, const Digest& token);

}  // namespace cordon::cli
