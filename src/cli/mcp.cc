// SPDX-License-Identifier: Apache-2.0
// cordon mcp: the sandbox for clients and servers of the Model Context Protocol.
#include <CLI/CLI.hpp>

#include "cli/mcp_verbs.h"
#include "cli/verbs.h"

namespace cordon::cli {

void add_mcp(CLI::App& app, Context& context) {
  CLI::App* const group = app.add_subcommand("mcp", "The sandbox for the Model Context Protocol");
  group->require_subcommand(1);
  add_mcp_serve(*group, context);
}

}  // namespace cordon::cli
