// SPDX-License-Identifier: Apache-2.0
#include "cli/run_launch.h"

#include <memory>

#include <boost/asio/io_context.hpp>

#include "async/block_on.h"
#include "async/deadline.h"
#include "async/scope.h"
#include "cli/grant_secret.h"
#include "cli/program_beside.h"
#include "cli/run_face.h"
#include "node/credentials.h"
#include "node/engine_ear.h"
#include "node/local_monitor.h"
#include "node/network.h"
#include "node/trust_bundle.h"
#include "plan/narrow.h"
#include "plan/trust.h"
#include "sandbox/process/process_backend.h"

namespace cordon::cli {
namespace {

// The launcher gives up a sandbox that does not stand after half of it.
constexpr std::chrono::seconds kLaunch{20};
// That are recorded of what an engine tells; what is more is counted.
constexpr std::uint64_t kEventsPerSecond = 10'000;

class Launch {
 public:
  Launch(const PreparedRun& run, const RunOptions& options, const Context& context,
         const asio::any_io_executor& executor, sandbox::LocalLauncher& launcher, CallerFace& face,
         const RunRecords& records)
      : run_{run},
        lowered_{run.lowered},
        options_{options},
        context_{context},
        launcher_{launcher},
        backend_{executor, launcher},
        face_{face},
        record_{records.network},
        responses_{records.responses} {
    if (lowered_.plan.traced) {
      ear_.emplace(lowered_, records.inside, kEventsPerSecond);
    } else if (!lowered_.enforcement.reported.empty()) {
      monitor_.emplace(executor, lowered_, records.inside);
    }
    if (!lowered_.network) return;
    network_.emplace(
        executor, [this] { return launcher_.open_egress(); }, *lowered_.network, record_.ears());
    if (!run_.grants.empty()) make_credentials(executor);
  }

  async::Task<node::RunOutcome> run(async::Scope& scope) {
    responses_.revoke_by([this, &scope](const node::Tripped& tripped) {
      if (network_) scope.spawn(revoke_network(tripped.response.rule));
    });
    if (network_) {
      CO_TRY(const frame::Serving serving, co_await async::within(kLaunch, network_->start()));
      CO_TRY_DO(trust(serving.certificate));
    }
    if (credentials_) {
      CO_TRY_DO(co_await credentials_->start(scope));
      scope.spawn(credentials_->keep(scope));
    }
    if (network_) scope.spawn(network_->keep());
    co_return co_await create_and_run();
  }

  // After the loop's end.
  void drain() {
    if (network_) network_->drain();
  }

 private:
  void make_credentials(const asio::any_io_executor& executor) {
    for (const node::HeldGrant& held : run_.grants) {
      if (!held.grant.env.empty()) plan::add_variable(lowered_, held.grant.env, held.placeholder);
    }
    credentials_.emplace(
        executor, run_.id.text(), run_.grants,
        node::CredentialSources{
            .read = [this](const policy::Grant& grant) { return own_secret(grant); },
            .open = [this] { return launcher_.open_broker(); },
            .connect = [this](os::Fd fd) { return network_->use_broker(std::move(fd)); },
            .used = [this](const frame::GrantUsed& use) { record_.used(use); }});
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): credentials only where there is a network
    network_->when_replaced([this] { return credentials_->reconnect(); });
  }

  async::Task<node::SecretPlace> own_secret(const policy::Grant& grant) {
    CO_TRY(WipedBytes secret, read_secret(grant, context_));
    co_return node::SecretPlace{.secret = std::move(secret)};
  }

  // The egress is told before anything is launched, and its authority goes into the plan.
  Status trust(const std::string& certificate) {
    if (certificate.empty()) return {};
    TRY(node::TrustBundle bundle, node::TrustBundle::write(run_.state, run_.id, certificate));
    plan::add_authorities(lowered_, bundle.path(), bundle.system());
    bundle_.emplace(std::move(bundle));
    return {};
  }

  // Where its egress does not confirm it in time it is told again when it is heard again.
  asio::awaitable<void> revoke_network(std::string rule) {
    if (!network_ || !lowered_.network) co_return;
    static_cast<void>(co_await network_->change(plan::without_network(*lowered_.network, rule)));
  }

  async::Task<node::RunOutcome> create_and_run() {
    CO_TRY(const auto made, co_await async::within(kLaunch, backend_.create(lowered_.plan)));
    if (monitor_) CO_TRY_DO(monitor_->begin(made->take_witness()));
    if (ear_) made->when_traced([this](const frame::Traced& traced) { ear_->take(traced); });
    sandbox::Command command{.arguments = options_.command,
                             .environment = lowered_.environment,
                             .directory = lowered_.directory,
                             .terminal = face_.terminal()};
    auto outcome = co_await node::run(*made, lowered_, std::move(command), face_, &responses_);
    if (monitor_ && outcome) monitor_->end();
    co_return outcome;
  }

  const PreparedRun& run_;
  plan::Lowered lowered_;  // with what is known only once the egress runs
  const RunOptions& options_;
  const Context& context_;
  sandbox::LocalLauncher& launcher_;
  sandbox::ProcessBackend backend_;
  CallerFace& face_;
  node::NetworkRecord& record_;
  node::Responses& responses_;
  std::optional<node::LocalMonitor> monitor_;  // one of these two, or none
  std::optional<node::EngineEar> ear_;
  std::optional<node::Network> network_;
  std::optional<node::Credentials> credentials_;
  std::optional<node::TrustBundle> bundle_;
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
