// SPDX-License-Identifier: Apache-2.0
// The verbs of `cordon policy`. Each writes to the context's streams and sets its exit code.
#pragma once

#include <string>
#include <vector>

#include "cli/audit_verbs.h"
#include "cli/policy_source.h"
#include "cli/verbs.h"

namespace cordon::cli {

// Which runs a policy is asked about.
struct ReplayOptions {
  AuditOptions log;               // where it is
  std::vector<std::string> runs;  // their ids
  std::string workspace;          // inside; empty: as each run had it
};

void policy_check(const PolicyOptions& options, Context& context);
void policy_explain(const PolicyOptions& options, Context& context);
// `workspace` empty: the current directory.
void policy_why(const PolicyOptions& options, const std::vector<std::string>& words,
                const std::string& workspace, Context& context);
void policy_test(const PolicyOptions& options, Context& context);
// Exit 1: something that was allowed would be refused.
void policy_replay(const PolicyOptions& options, const ReplayOptions& replayed, Context& context);
void policy_show(const PolicyOptions& options, bool effective, Context& context);
void policy_schema(Context& context);

}  // namespace cordon::cli
