// SPDX-License-Identifier: Apache-2.0
// The command line as a whole.
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace cordon::cli {

void fail(Context& context, const Error& error) {
  context.err << "cordon: " << error.text() << '\n';
  context.exit = exit_of(error.code());
}

int run(int argc, const char* const* argv, Context& context) {
  CLI::App app{"Runs agents and their tools isolated, limited, policed and recorded.", "cordon"};
  app.set_version_flag("--version", "cordon " CORDON_VERSION);
  app.require_subcommand(1);
  add_run(app, context);
  add_shell(app, context);
  add_diff(app, context);
  add_apply(app, context);
  add_discard(app, context);
  add_doctor(app, context);
  add_policy(app, context);
  add_named_commands(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 reports --help and --version as exceptions too: those exit with 0.
    if (error.get_exit_code() == 0) return app.exit(error, context.out, context.err);
    const auto unknown = app.remaining(true);
    context.err << "cordon: ";
    if (unknown.empty()) {
      context.err << error.what();
    } else {
      context.err << "`" << unknown.front() << "` has no meaning here";
    }
    context.err << "; see cordon --help, or --help after a verb\n";
    return static_cast<int>(Exit::usage);
  }
  return static_cast<int>(context.exit);
}

}  // namespace cordon::cli
