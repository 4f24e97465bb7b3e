// SPDX-License-Identifier: Apache-2.0
// The policy of one `cordon run`: flags over the user's file or a preset, under the site's ceiling,
// narrowed by the workspace's own file.
#pragma once

#include <string>

#include "cli/run_options.h"
#include "cli/verbs.h"
#include "policy/policy.h"
#include "policy/problem.h"

namespace cordon::cli {

// `workspace` is the host directory that will be bound.
Result<policy::Policy> policy_of_run(const RunOptions& options, const std::string& workspace,
                                     const Context& context, policy::Problems& problems);

}  // namespace cordon::cli
