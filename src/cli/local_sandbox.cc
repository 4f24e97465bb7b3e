// SPDX-License-Identifier: Apache-2.0
#include "cli/local_sandbox.h"

#include "async/deadline.h"
#include "cli/grant_secret.h"
#include "plan/narrow.h"
#include "plan/trust.h"

namespace cordon::cli {
namespace {

// The launcher gives up a sandbox that does not stand after half of it.
constexpr std::chrono::seconds kLaunch{20};
// That are recorded of what an engine tells; what is more is counted.
constexpr std::uint64_t kEventsPerSecond = 10'000;

}  // namespace

LocalSandbox::LocalSandbox(const PreparedRun& run, const Context& context,
                           const asio::any_io_executor& executor, sandbox::LocalLauncher& launcher,
                           const RunRecords& records)
    : run_{run},
      lowered_{run.lowered},
      context_{context},
      launcher_{launcher},
      backend_{executor, launcher},
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

void LocalSandbox::make_credentials(const asio::any_io_executor& executor) {
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

async::Task<node::SecretPlace> LocalSandbox::own_secret(const policy::Grant& grant) {
  CO_TRY(WipedBytes secret, read_secret(grant, context_));
  co_return node::SecretPlace{.secret = std::move(secret)};
}

// The egress is told before anything is launched, and its authority goes into the plan.
Status LocalSandbox::trust(const std::string& certificate) {
  if (certificate.empty()) return {};
  TRY(node::TrustBundle bundle, node::TrustBundle::write(run_.state, run_.id, certificate));
  plan::add_authorities(lowered_, bundle.path(), bundle.system());
  bundle_.emplace(std::move(bundle));
  return {};
}

// Where its egress does not confirm it in time it is told again when it is heard again.
asio::awaitable<void> LocalSandbox::revoke_network(std::string rule) {
  if (!network_ || !lowered_.network) co_return;
  static_cast<void>(co_await network_->change(plan::without_network(*lowered_.network, rule)));
}

async::Task<std::unique_ptr<sandbox::Sandbox>> LocalSandbox::create(async::Scope& scope) {
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
  CO_TRY(auto made, co_await async::within(kLaunch, backend_.create(lowered_.plan)));
  if (monitor_) CO_TRY_DO(monitor_->begin(made->take_witness()));
  if (ear_) made->when_traced([this](const frame::Traced& traced) { ear_->take(traced); });
  co_return made;
}

void LocalSandbox::end_monitor() {
  if (monitor_) monitor_->end();
}

void LocalSandbox::drain() {
  if (network_) network_->drain();
}

}  // namespace cordon::cli
