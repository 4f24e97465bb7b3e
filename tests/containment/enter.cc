// SPDX-License-Identifier: Apache-2.0
// cordon-enter: a command in a sandbox, and others that join it there while it runs.
//
//   cordon-enter [FLAGS OF cordon run] [--times N] -- FIRST... ::: JOINING...
//
// The joining command is started N times, one after the other; then the first one's input ends, and
// it is waited for. What each of them writes is printed when it has ended, the joining ones first.
// Exit: 0, or 125 where something could not be started.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>

#include "async/block_on.h"
#include "async/scope.h"
#include "cli/host_cache.h"
#include "cli/run_prepare.h"
#include "sandbox/process/local_launcher.h"
#include "sandbox/process/process_backend.h"

namespace cordon {
namespace {

constexpr int kOwnFailure = 125;

cli::Context caller() {
  return {.out = std::cout,
          .err = std::cerr,
          .environment = [](const std::string& name) -> std::optional<std::string> {
            // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
            const char* const value = std::getenv(name.c_str());
            return value == nullptr ? std::nullopt : std::optional<std::string>{value};
          }};
}

struct Wanted {
  cli::RunOptions options;
  std::vector<std::string> first;
  std::vector<std::string> joining;
  int times = 1;
};

// Until it has ended and nobody writes to its streams any more.
async::Task<std::string> output_of(sandbox::Process& process) {
  std::string output;
  int open_streams = 2;
  bool exited = false;
  while (!exited || open_streams > 0) {
    CO_TRY(const sandbox::ProcessEvent event, co_await process.next());
    if (const auto* failed = std::get_if<frame::Failed>(&event)) {
      co_return Error::from_errno(failed->step, failed->error_number);
    }
    if (const auto* some = std::get_if<frame::Output>(&event)) output += some->bytes;
    if (std::holds_alternative<frame::OutputEnd>(event)) --open_streams;
    if (std::holds_alternative<frame::Exited>(event)) exited = true;
  }
  co_return output;
}

async::Task<void> join_in(sandbox::Sandbox& sandbox, const plan::Lowered& lowered,
                          const Wanted& wanted) {
  const auto command = [&](const std::vector<std::string>& arguments) {
    return sandbox::Command{
        .arguments = arguments, .environment = lowered.environment, .directory = lowered.directory};
  };
  const auto first = sandbox.start(command(wanted.first));
  // It says a word when it stands.
  CO_TRY(sandbox::ProcessEvent event, co_await first->next());
  while (!std::holds_alternative<frame::Output>(event)) {
    if (std::holds_alternative<frame::Failed>(event)) {
      co_return Error{Errc::internal, "the first command did not start"};
    }
    CO_TRY(event, co_await first->next());
  }
  for (int i = 0; i < wanted.times; ++i) {
    const auto joined = sandbox.start(command(wanted.joining));
    CO_TRY_DO(co_await joined->write({}, true));
    CO_TRY(const std::string said, co_await output_of(*joined));
    std::cout << said;
  }
  CO_TRY_DO(co_await first->write({}, true));
  CO_TRY(const std::string said, co_await output_of(*first));
  std::cout << std::get<frame::Output>(event).bytes << said;
  co_return Status{};
}

asio::awaitable<Status> in_sandbox(async::Scope& scope, sandbox::Sandbox* sandbox,
                                   const plan::Lowered* lowered, const Wanted* wanted) {
  scope.spawn(sandbox->serve());
  Status done = co_await join_in(*sandbox, *lowered, *wanted);
  const auto ended = co_await sandbox->destroy();
  scope.cancel();
  if (done && !ended) co_return ended.error();
  co_return done;
}

async::Task<void> create_and_enter(sandbox::Backend& backend, const plan::Lowered& lowered,
                                   const Wanted& wanted) {
  CO_TRY(const auto sandbox, co_await backend.create(lowered.plan));
  co_return co_await async::in_scope(in_sandbox, sandbox.get(), &lowered, &wanted);
}

Status enter(const Wanted& wanted) {
  const cli::Context context = caller();
  const HostFacts host = cli::known_host_facts(context);
  cli::WhyNot why;
  cli::RunOptions options = wanted.options;
  options.no_monitor = true;  // nobody here answers what the filter tells
  TRY(const cli::PreparedRun run, cli::prepare_run(options, context, host, why));
  asio::io_context loop{1};
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const bool spare = !host.root && host.has(Feature::id_ranges);
  TRY(auto launcher, sandbox::LocalLauncher::start(loop.get_executor(),
                                                   (beside / "cordon-launcher").string(), spare));
  sandbox::ProcessBackend backend{loop.get_executor(), launcher};
  return async::block_on(loop, create_and_enter(backend, run.lowered, wanted));
}

}  // namespace
}  // namespace cordon

// NOLINTNEXTLINE(bugprone-exception-escape): what its flags throw ends a test's program
int main(int argc, char** argv) {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  cordon::Wanted wanted;
  CLI::App app{"cordon-enter"};
  cordon::cli::add_run_flags(app, wanted.options);
  std::vector<std::string> words;
  app.add_option("--times", wanted.times);
  app.add_option("command", words)->required();
  app.positionals_at_end();
  CLI11_PARSE(app, argc, argv);
  const auto between = std::ranges::find(words, ":::");
  wanted.first.assign(words.begin(), between);
  if (between != words.end()) wanted.joining.assign(between + 1, words.end());
  if (wanted.first.empty() || wanted.joining.empty()) {
    std::cerr << "cordon-enter: two commands, with ::: between them\n";
    return cordon::kOwnFailure;
  }
  wanted.options.command = wanted.first;
  const cordon::Status done = cordon::enter(wanted);
  if (!done) std::cerr << "cordon-enter: " << done.error().text() << '\n';
  return done ? EXIT_SUCCESS : cordon::kOwnFailure;
}
