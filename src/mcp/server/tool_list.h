// SPDX-License-Identifier: Apache-2.0
// The tools that a client is offered: their names, schemas and annotations. (pure)
#pragma once

#include <string_view>

#include "base/result.h"
#include "mcp/server/json_rpc.h"

namespace cordon::mcp::server {

// What the operator's settings decide about the tools. The same for every client.
struct ToolSettings {
  bool reaches_network = false;  // any host at all
  bool is_live = false;          // writes land in the workspace at once: nothing waits for review
};

class ToolList {
 public:
  explicit ToolList(const ToolSettings& settings);

  // {"tools": [...]}: the same bytes whenever it is asked for.
  json::object result() const { return {{"tools", tools_}}; }
  // nullptr: there is none.
  const json::object* find(std::string_view name) const;

 private:
  json::array tools_;
};

// `invalid`: they are not as the tool declares them.
Status check_arguments(const json::object& tool, const json::object& arguments);

}  // namespace cordon::mcp::server
