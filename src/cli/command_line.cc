// SPDX-License-Identifier: Apache-2.0
// The command line as a whole.
#include <array>
#include <ostream>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace cordon::cli {
namespace {

struct Verb {
  std::string_view name;
  void (*add)(CLI::App& app, Context& context);
};

constexpr std::array kVerbs = {Verb{"run", add_run},         Verb{"shell", add_shell},
                               Verb{"diff", add_diff},       Verb{"apply", add_apply},
                               Verb{"discard", add_discard}, Verb{"machine", add_machine},
                               Verb{"doctor", add_doctor},   Verb{"image", add_image},
                               Verb{"audit", add_audit},     Verb{"why", add_why},
                               Verb{"suggest", add_suggest}, Verb{"policy", add_policy},
                               Verb{"token", add_token},     Verb{"apikey", add_apikey},
                               Verb{"secret", add_secret},   Verb{"create", add_create},
                               Verb{"exec", add_exec},       Verb{"attach", add_attach},
                               Verb{"ps", add_ps},           Verb{"top", add_top},
                               Verb{"logs", add_logs},       Verb{"inspect", add_inspect},
                               Verb{"cp", add_cp},           Verb{"kill", add_kill},
                               Verb{"status", add_status},   Verb{"completion", add_completion},
                               Verb{"mcp", add_mcp},         Verb{"fleet", add_fleet}};

// A verb's flags take longer to describe than a sandbox to mount: where the first word is a verb,
// no other is described. Anything else, --help among it, meets them all.
void add_verbs(CLI::App& app, Context& context, std::string_view first) {
  for (const Verb& verb : kVerbs) {
    if (verb.name == first) return verb.add(app, context);
  }
  add_all_verbs(app, context);
}

}  // namespace

void add_all_verbs(CLI::App& app, Context& context) {
  for (const Verb& verb : kVerbs) verb.add(app, context);
  add_named_commands(app, context);
  add_node(app, context);
}

void fail(Context& context, const Error& error) {
  context.err << "cordon: " << error.text() << '\n';
  context.exit = exit_of(error.code());
}

int run(int argc, const char* const* argv, Context& context) {
  CLI::App app{"Runs agents and their tools isolated, limited, policed and recorded.", "cordon"};
  app.set_version_flag("--version", "cordon " CORDON_VERSION);
  app.require_subcommand(1);
  add_verbs(app, context, argc > 1 ? argv[1] : "");
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
