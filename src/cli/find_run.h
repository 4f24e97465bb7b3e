// SPDX-License-Identifier: Apache-2.0
// Which run a person means, and which path in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "review/run_directory.h"

namespace cordon::cli {

// The run that `word` names: its id, or the beginning of exactly one id, four characters at least.
// Errors: not_found; invalid when several begin so.
Result<RunId> run_named(const std::string& state_root, std::string_view word);

// The newest run whose workspace is the current directory or the nearest directory above that has
// one.
Result<RunId> newest_run_here(const std::string& state_root);

// `word` as a path relative to the run's workspace; "." for the workspace itself. A relative word
// starts at the current directory when that is inside the workspace, else at the workspace. Links
// are not looked at. Errors: invalid when it leads outside.
Result<std::string> path_in_workspace(const std::string& word, const std::string& workspace);

// The error without what a name in it could do to a terminal.
Error escaped(const Error& error);

}  // namespace cordon::cli
