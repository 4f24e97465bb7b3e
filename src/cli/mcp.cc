// SPDX-License-Identifier: Apache-2.0
// cordon mcp: MCP servers of others, policed.
#include <CLI/CLI.hpp>

#include "cli/mcp_verbs.h"

namespace cordon::cli {

void add_mcp(CLI::App& app, Context& context) {
  CLI::App* const group = app.add_subcommand("mcp", "MCP servers: run one in a sandbox, policed");
  group->require_subcommand(1);
  add_mcp_wrap(*group, context);
}

}  // namespace cordon::cli
