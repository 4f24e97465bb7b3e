// SPDX-License-Identifier: Apache-2.0
// The verbs of `cordon`: one file each. A verb hangs its flags on the command line and its work on
// a callback.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace cordon::cli {

// What a verb sees of the world outside its arguments. Tests pass their own.
struct Context {
  std::ostream& out;
  std::ostream& err;
  std::function<std::optional<std::string>(const std::string& name)> environment;
  // All of them; empty where a test has none.
  std::function<std::vector<std::pair<std::string, std::string>>()> variables = [] {
    return std::vector<std::pair<std::string, std::string>>{};
  };
  Exit exit = Exit::ok;  // set by the verb that ran
};

// "cordon: TEXT" on the error stream, and the matching exit code.
void fail(Context& context, const Error& error);

void add_apply(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_discard(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_policy(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_shell(CLI::App& app, Context& context);
// One verb for each command that has a preset: claude, npm, …
void add_named_commands(CLI::App& app, Context& context);

// Parses `argv`, runs the verb that it names, returns the process's exit code.
int run(int argc, const char* const* argv, Context& context);

}  // namespace cordon::cli
