// SPDX-License-Identifier: Apache-2.0
// cordon attach: goes on with a process of a node that somebody left.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include "async/block_on.h"
#include "cli/exec_session.h"
#include "cli/node_words.h"
#include "cli/relayed_screen.h"
#include "cli/run_options.h"
#include "cli/terminal_session.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

struct AttachFlags {
  NodeOptions node;
  std::string sandbox;
  std::uint32_t process = 0;
  std::string patience = "30s";
  bool interactive = false;
  bool raw = false;
};

void attach(const AttachFlags& flags, Context& context) {
  const auto patience = parse_duration(flags.patience);
  if (!patience) return fail_typed(context, patience.error());
  const auto node = find_node(flags.node, context);
  const auto path = sandbox_path(flags.sandbox, fmt::format("/processes/{}", flags.process));
  const auto answer = node && path ? ask_now(*node, {.path = *path})
                                   : Result<NodeAnswer>{node ? path.error() : node.error()};
  // As for exec: what has no process to end with is no code of one.
  if (!answer || !answer->is_good()) {
    answer ? refuse(context, flags.node, *answer) : fail(context, answer.error());
    context.exit = answer ? start_exit_of_status(answer->status) : Exit::not_started;
    return;
  }
  const ExecOrder order{.sandbox = flags.sandbox,
                        .process = flags.process,
                        .interactive = flags.interactive,
                        .raw = flags.raw,
                        .patience = std::chrono::seconds{static_cast<std::int64_t>(*patience)},
                        .options = flags.node};
  const auto* const terminal = answer->json.as_object().if_contains("pty");
  if (terminal != nullptr && !flags.node.json && is_at_terminal())
    return run_at_terminal(*node, order, context);
  asio::io_context loop{1};
  ExecSession session{loop.get_executor(), *node, order, context};
  context.exit = static_cast<Exit>(async::block_on(loop, session.run()));
}

}  // namespace

void add_attach(CLI::App& app, Context& context) {
  auto flags = std::make_shared<AttachFlags>();
  CLI::App* const verb =
      app.add_subcommand("attach", "Goes on with a process of a node, as exec does with its own");
  verb->group(kNodeVerbs);
  verb->add_option("SANDBOX", flags->sandbox, "The sandbox's id")->required();
  verb->add_option("PROCESS", flags->process, "The process's number; cordon top lists them")
      ->required();
  verb->add_flag("-i,--interactive", flags->interactive, "Send it standard input");
  verb->add_option("--patience", flags->patience, "How long to wait for a node that has gone")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_flag("--raw", flags->raw, "Let all bytes of the program reach the terminal");
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] { attach(*flags, context); });
}

}  // namespace cordon::cli
