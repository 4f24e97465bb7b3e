// SPDX-License-Identifier: Apache-2.0
// cordon exec: a command in a sandbox of a node.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "async/block_on.h"
#include "cli/exec_session.h"
#include "cli/exec_words.h"
#include "cli/node_words.h"
#include "cli/relayed_screen.h"
#include "cli/run_options.h"
#include "cli/terminal_session.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"
#include "policy/text.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

struct ExecFlags {
  NodeOptions node;
  std::string sandbox;
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string directory;
  std::string patience = "30s";
  bool interactive = false;
  bool terminal = false;
  bool detach = false;
  bool raw = false;
};

// NAME=VALUE, or NAME of the caller's where there is one.
Result<json::object> environment_of(const ExecFlags& flags, const Context& context) {
  json::object variables;
  for (const std::string& word : flags.environment) {
    const std::size_t equals = word.find('=');
    if (equals == 0) {
      return Error{Errc::invalid,
                   fmt::format("--env {}: expected NAME or NAME=VALUE", policy::in_quotes(word))};
    }
    if (equals != std::string::npos) {
      variables[word.substr(0, equals)] = word.substr(equals + 1);
    } else if (const auto held = context.environment(word)) {
      variables[word] = *held;
    }
  }
  // What a program may say to the terminal depends on which it is.
  if (const auto kind = context.environment("TERM"); flags.terminal && kind)
    variables.emplace("TERM", *kind);
  return variables;
}

Result<ExecOrder> order_of(const ExecFlags& flags, const Context& context) {
  if (flags.terminal && !flags.detach && (flags.node.json || !is_at_terminal())) {
    return Error{Errc::invalid,
                 flags.node.json
                     ? "-t and --json: a terminal shows no lines of JSON; leave one of them out"
                     : "-t: standard input and output are no terminal; leave it out, and add -i to "
                       "send input"};
  }
  if (flags.command.empty()) {
    return Error{Errc::invalid, "nothing to run: cordon exec SANDBOX -- COMMAND..."};
  }
  if (flags.detach && flags.interactive) {
    return Error{Errc::invalid, "-d and -i: who sends input stays; leave one of them out"};
  }
  TRY(json::object environment, environment_of(flags, context));
  TRY(const std::uint64_t patience, parse_duration(flags.patience));
  json::object start{{"command", json::array(flags.command.begin(), flags.command.end())}};
  if (!environment.empty()) start["environment"] = std::move(environment);
  if (!flags.directory.empty()) start["directory"] = flags.directory;
  if (flags.terminal) {
    const wire::TerminalSize size = own_terminal_size();
    start["pty"] = json::object{{"rows", size.rows}, {"cols", size.columns}};
  }
  return ExecOrder{.sandbox = flags.sandbox,
                   .start = json::serialize(start),
                   .interactive = flags.interactive,
                   .raw = flags.raw,
                   .patience = std::chrono::seconds{static_cast<std::int64_t>(patience)},
                   .options = flags.node};
}

// Starts it and leaves: prints the number that `cordon logs` takes.
void detach(const Node& node, const ExecOrder& order, bool has_terminal, Context& context) {
  const std::string path = "/v1/sandboxes/" + order.sandbox + "/processes";
  const auto answer = ask_now(node, {.method = "POST", .path = path, .body = order.start});
  context.exit = Exit::not_started;
  if (!answer) {
    context.err << "cordon: " << answer.error().text() << '\n';
    return;
  }
  if (!answer->is_good()) {
    refuse(context, order.options, *answer);
    context.exit = start_exit_of_status(answer->status);
    return;
  }
  const std::string number = std::to_string(number_at(answer->json, "process").value_or(0));
  if (const std::string failure = text_at(answer->json, "failure"); !failure.empty()) {
    context.err << "cordon: " << terminal::printable(failure) << '\n';
    context.exit = static_cast<Exit>(code_of_failure(failure));
    return;
  }
  // Who waits at a terminal may still be attended to.
  if (!has_terminal)
    static_cast<void>(
        ask_now(node, {.method = "POST", .path = path + '/' + number + "/input?end=true"}));
  context.out << (order.options.json ? answer->body : number) << '\n';
  context.exit = Exit::ok;
}

void exec(const ExecFlags& flags, Context& context) {
  const auto order = order_of(flags, context);
  if (!order) return fail_typed(context, order.error());
  const auto node = find_node(flags.node, context);
  const auto path = sandbox_path(flags.sandbox, "");
  if (!node || !path) {
    fail(context, node ? path.error() : node.error());
    context.exit = Exit::not_started;
    return;
  }
  if (flags.detach) return detach(*node, *order, flags.terminal, context);
  if (flags.terminal) return run_at_terminal(*node, *order, context);
  asio::io_context loop{1};
  ExecSession session{loop.get_executor(), *node, *order, context};
  context.exit = static_cast<Exit>(async::block_on(loop, session.run()));
}

}  // namespace

void add_exec(CLI::App& app, Context& context) {
  auto flags = std::make_shared<ExecFlags>();
  CLI::App* const verb = app.add_subcommand("exec", "Runs a command in a sandbox of a node");
  verb->group(kNodeVerbs);
  verb->add_flag("-i,--interactive", flags->interactive, "Send it standard input");
  verb->add_flag("-t,--tty", flags->terminal, "Give it a terminal, relayed to ours");
  verb->add_flag("-d,--detach", flags->detach, "Start it, print its number, and leave");
  verb->add_option("-e,--env", flags->environment, "Pass NAME of the caller, or set NAME=VALUE")
      ->type_name("NAME[=VALUE]")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("-w,--workdir", flags->directory, "Where it begins; the workspace by default")
      ->type_name("DIR");
  verb->add_option("--patience", flags->patience, "How long to wait for a node that has gone")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_flag("--raw", flags->raw, "Let all bytes of the program reach the terminal");
  add_node_flags(*verb, flags->node);
  // From the first word that is no flag on, all is the command's, also what looks like a flag.
  verb->prefix_command();
  verb->footer("SANDBOX [--] COMMAND... follow: the id, and what to run there");
  verb->callback([flags, verb, &context] {
    auto words = verb->remaining();
    if (!words.empty()) {
      flags->sandbox = words.front();
      words.erase(words.begin());
    }
    if (!words.empty() && words.front() == "--") words.erase(words.begin());
    flags->command = std::move(words);
    exec(*flags, context);
  });
}

}  // namespace cordon::cli
