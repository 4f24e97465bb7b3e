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

// The group of verbs that speak to a node, in --help.
inline constexpr const char* kNodeVerbs = "Sandboxes of a node";

void add_apikey(CLI::App& app, Context& context);
void add_apply(CLI::App& app, Context& context);
void add_audit(CLI::App& app, Context& context);
void add_why(CLI::App& app, Context& context);
void add_attach(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);
void add_cp(CLI::App& app, Context& context);
void add_create(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_discard(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_exec(CLI::App& app, Context& context);
void add_fleet(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_image(CLI::App& app, Context& context);
void add_kill(CLI::App& app, Context& context);
void add_machine(CLI::App& app, Context& context);
void add_mcp(CLI::App& app, Context& context);
void add_logs(CLI::App& app, Context& context);
void add_policy(CLI::App& app, Context& context);
void add_ps(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_secret(CLI::App& app, Context& context);
void add_shell(CLI::App& app, Context& context);
void add_status(CLI::App& app, Context& context);
void add_suggest(CLI::App& app, Context& context);
void add_token(CLI::App& app, Context& context);
void add_top(CLI::App& app, Context& context);
// One verb for each command that has a preset: claude, npm, …
void add_named_commands(CLI::App& app, Context& context);
// Below `node` of these: what is said to nodes.
void add_node(CLI::App& app, Context& context);

// Every verb there is.
void add_all_verbs(CLI::App& app, Context& context);

// Parses `argv`, runs the verb that it names, returns the process's exit code.
int run(int argc, const char* const* argv, Context& context);

}  // namespace cordon::cli
