// SPDX-License-Identifier: Apache-2.0
// cordon logs: what a process in a node wrote and nobody has acknowledged yet.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "async/block_on.h"
#include "cli/node_words.h"
#include "cli/output_follower.h"
#include "cli/run_options.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

struct LogsFlags {
  NodeOptions node;
  std::string sandbox;
  std::uint32_t process = 0;
  std::string patience = "30s";
  bool follow = false;
  bool take = false;
  bool raw = false;
};

struct LogsOrder {
  const Node* node;
  std::string path;
  OutputPlace from;
  FollowRules rules;
  const LogsFlags* flags;
  std::ostream* err;
};

struct Read {
  Followed followed;
  std::uint64_t gone = 0;
};

async::Task<Read> read(LogsOrder order) {
  OutputSink sink{co_await asio::this_coro::executor, order.flags->node.json, order.flags->raw};
  OutputFollower follower{*order.node, order.path, order.from, order.rules, sink, *order.err};
  auto followed = co_await follower.follow();
  // As `head` wants it: it has what it wanted.
  if (!followed && follower.sink_has_gone()) co_return Read{};
  if (!followed) co_return std::move(followed).error();
  co_return Read{.followed = *std::move(followed), .gone = follower.gone()};
}

// What is held begins and ends there; a node keeps the rest no more.
OutputPlace place_of(const boost::json::value& process, const char* out, const char* err) {
  return {number_at(process, out), number_at(process, err)};
}

void logs(const LogsFlags& flags, Context& context) {
  const auto patience = parse_duration(flags.patience);
  if (!patience) return fail_typed(context, patience.error());
  const auto node = find_node(flags.node, context);
  const auto path = sandbox_path(flags.sandbox, fmt::format("/processes/{}", flags.process));
  if (!node || !path) return fail(context, node ? path.error() : node.error());
  const auto answer = ask_now(*node, {.path = *path});
  if (!answer) return fail(context, answer.error());
  if (!answer->is_good()) return refuse(context, flags.node, *answer);
  LogsOrder order{.node = &*node,
                  .path = *path,
                  .from = place_of(answer->json, "stdout_from", "stderr_from"),
                  .rules = {.acknowledges = flags.take,
                            .patience = std::chrono::seconds{static_cast<std::int64_t>(*patience)}},
                  .flags = &flags,
                  .err = &context.err};
  if (!flags.follow) order.rules.until = place_of(answer->json, "stdout_bytes", "stderr_bytes");
  asio::io_context loop{1};
  const auto done = async::block_on(loop, read(std::move(order)));
  if (!done) return fail(context, done.error());
  if (const auto& refusal = done->followed.refusal) return refuse(context, flags.node, *refusal);
  if (done->gone > 0) {
    context.err << fmt::format(
        "cordon: {} bytes are missing: another reader acknowledged them first\n", done->gone);
  }
}

}  // namespace

void add_logs(CLI::App& app, Context& context) {
  auto flags = std::make_shared<LogsFlags>();
  CLI::App* const verb =
      app.add_subcommand("logs", "Prints what a process wrote and nobody has taken yet");
  verb->group(kNodeVerbs);
  verb->add_option("SANDBOX", flags->sandbox, "The sandbox's id")->required();
  verb->add_option("PROCESS", flags->process, "The process's number; cordon top lists them")
      ->required();
  verb->add_flag("-f,--follow", flags->follow, "Go on until the process has ended");
  verb->add_flag("--take", flags->take, "What was printed need not be kept any longer");
  verb->add_option("--patience", flags->patience, "How long to wait for a node that has gone")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_flag("--raw", flags->raw, "Let all bytes of the program reach the terminal");
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] { logs(*flags, context); });
}

}  // namespace cordon::cli
