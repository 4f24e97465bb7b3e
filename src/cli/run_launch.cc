// SPDX-License-Identifier: Apache-2.0
#include "cli/run_launch.h"

#include <memory>

#include <boost/asio/io_context.hpp>

#include "async/block_on.h"
#include "async/scope.h"
#include "cli/program_beside.h"
#include "cli/run_face.h"

namespace cordon::cli {
namespace {

class Launch {
 public:
  Launch(const PreparedRun& run, const RunOptions& options, const Context& context,
         const asio::any_io_executor& executor, sandbox::LocalLauncher& launcher, CallerFace& face,
         const RunRecords& records)
      : options_{options},
        local_{run, context, executor, launcher, records},
        face_{face},
        responses_{records.responses} {}

  async::Task<node::RunOutcome> run(async::Scope& scope) {
    CO_TRY(const auto made, co_await local_.create(scope));
    const plan::Lowered& lowered = local_.lowered();
    sandbox::Command command{.arguments = options_.command,
                             .environment = lowered.environment,
                             .directory = lowered.directory,
                             .terminal = face_.terminal()};
    auto outcome = co_await node::run(*made, lowered, std::move(command), face_, &responses_);
    if (outcome) local_.end_monitor();
    co_return outcome;
  }

  // After the loop's end.
  void drain() { local_.drain(); }

 private:
  const RunOptions& options_;
  LocalSandbox local_;
  CallerFace& face_;
  node::Responses& responses_;
};

}  // namespace

void start_early(EarlyLauncher& early, bool can_stand) {
  if (!early && can_stand)
    early.emplace(sandbox::start_launcher(program_beside("cordon-launcher")));
}

Result<node::RunOutcome> launch_run(const PreparedRun& run, const RunOptions& options,
                                    const Context& context, const HostFacts& host,
                                    EarlyLauncher early, const RunRecords& records,
                                    const MakeFace& make) {
  asio::io_context loop{1};
  const bool spare = !host.root && host.has(Feature::id_ranges);
  const std::string program = program_beside("cordon-launcher");
  start_early(early, true);
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): started above
  TRY(auto started, *std::move(early));
  TRY(auto launcher, sandbox::LocalLauncher::adopt(loop.get_executor(), std::move(started), spare));
  TRY(const std::unique_ptr<CallerFace> face,
      make ? make(loop.get_executor()) : make_face(loop.get_executor(), options.raw));
  Launch launch{run, options, context, loop.get_executor(), launcher, *face, records};
  auto outcome = async::block_on(
      loop, async::in_scope(
                [](async::Scope& scope, Launch* act) -> async::Task<node::RunOutcome> {
                  auto outcome = co_await act->run(scope);
                  // However it ended: nothing of it goes on.
                  scope.cancel();
                  co_return outcome;
                },
                &launch));
  records.responses.revoke_by({});
  launch.drain();
  face->leave();
  // Lost before it named its sandbox: nobody knows what it had made but the next one.
  if (!outcome && launcher.is_lost()) {
    static_cast<void>(sandbox::LocalLauncher::reclaim(program, spare));
  }
  return outcome;
}

}  // namespace cordon::cli
