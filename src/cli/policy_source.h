// SPDX-License-Identifier: Apache-2.0
// Policies as the command line finds them: in a file, or composed from all that speak in this
// directory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/verbs.h"
#include "policy/policy.h"
#include "policy/problem.h"

namespace cordon::cli {

// What the `cordon policy` verbs have in common.
struct PolicyOptions {
  std::string file;
  std::string origin = "user";
  std::string under = "coding-agent";  // the preset that a workspace file is judged under
  bool json = false;
};

// Reads, parses and checks `options.file`. All problems are in `problems`.
Result<policy::Policy> load_policy(const PolicyOptions& options, const Context& context,
                                   policy::Problems& problems);

// The policy that holds in the current directory: the site's (/etc/cordon/policy.toml), the user's
// ($XDG_CONFIG_HOME/cordon/policy.toml), or the preset `under` where neither exists; narrowed by
// ./cordon.toml.
Result<policy::Policy> effective_policy(const PolicyOptions& options, const Context& context,
                                        policy::Problems& problems);

// Reads and parses a file; `-` is standard input.
Result<policy::PolicyDocument> load_document(const std::string& file, policy::Problems& problems);

// The files that hold on this machine beside the workspace's own; nothing where there is none.
Result<std::optional<std::string>> site_layer();
Result<std::optional<std::string>> user_layer(const Context& context);

// Only a file that is not there may be left out: one that cannot be looked at would drop a ceiling
// in silence.
Result<bool> is_there(const std::string& file);

Error no_such_preset(const std::string& name);

// Says each problem on the error stream ("cordon: FILE:LINE:COL: …"), or as JSON on the output;
// sets the exit code.
void report(const Error& error, const policy::Problems& problems, const PolicyOptions& options,
            Context& context);

}  // namespace cordon::cli
