// SPDX-License-Identifier: Apache-2.0
// What a model is told of its sandbox before it uses it.
#pragma once

#include <string>

#include "cli/run_options.h"
#include "cli/run_prepare.h"

namespace cordon::cli {

// Six lines. `run`: what the usual sandbox would be.
std::string instructions_for(const PreparedRun& run, const RunOptions& options);

}  // namespace cordon::cli
