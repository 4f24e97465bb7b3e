// SPDX-License-Identifier: Apache-2.0
// The verbs of `cordon mcp`.
#pragma once

#include "cli/verbs.h"

namespace cordon::cli {

void add_mcp_serve(CLI::App& group, Context& context);
void add_mcp_wrap(CLI::App& group, Context& context);

}  // namespace cordon::cli
