// SPDX-License-Identifier: Apache-2.0
// The verbs of `cordon fleet`. Each writes to the context's streams and sets its exit code.
#pragma once

#include "cli/verbs.h"

namespace cordon::cli {

// `policy`, below `group`.
void add_fleet_policy(CLI::App& group, Context& context);

}  // namespace cordon::cli
