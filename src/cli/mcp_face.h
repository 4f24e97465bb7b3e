// SPDX-License-Identifier: Apache-2.0
// A run whose program is an MCP server: between it and the caller's standard streams stands the
// filter, and this only moves bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/mcp_filter.h"
#include "cli/run_face.h"

namespace cordon::cli {

// What the filter says beside bytes. An Error ends the run.
using TakeAct = std::function<Status(const mcp::FromFilter& act)>;
// Why the run was ended by us, if it was.
using TellFailure = std::function<void(const Error& error)>;

std::unique_ptr<CallerFace> make_mcp_face(const asio::any_io_executor& executor,
                                          StartedFilter filter, TakeAct take, TellFailure tell);

}  // namespace cordon::cli
