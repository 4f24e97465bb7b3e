// SPDX-License-Identifier: Apache-2.0
// The verbs of `cordon policy`. Each writes to the context's streams and sets its exit code.
#pragma once

#include <string>
#include <vector>

#include "cli/policy_source.h"
#include "cli/verbs.h"

namespace cordon::cli {

void policy_check(const PolicyOptions& options, Context& context);
void policy_explain(const PolicyOptions& options, Context& context);
// `workspace` empty: the current directory.
void policy_why(const PolicyOptions& options, const std::vector<std::string>& words,
                const std::string& workspace, Context& context);
void policy_test(const PolicyOptions& options, Context& context);
void policy_show(const PolicyOptions& options, bool effective, Context& context);
void policy_schema(Context& context);

}  // namespace cordon::cli
