// SPDX-License-Identifier: Apache-2.0
// cordon mcp: the sandbox for clients and servers of the Model Context Protocol.
#include <CLI/CLI.hpp>

#include "cli/mcp_verbs.h"

namespace cordon::cli {

void add_mcp(CLI::App& app, Context& context) {
  CLI::App* const group = app.add_subcommand("mcp",
                                             "The Model Context Protocol: a server that runs "
                                             "commands in sandboxes, or a server of others in one");
  group->require_subcommand(1);
  add_mcp_serve(*group, context);
  add_mcp_wrap(*group, context);
}

}  // namespace cordon::cli
