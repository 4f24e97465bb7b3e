// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/living_sandbox.h"

#include <iterator>
#include <ranges>

#include "cli/own_log.h"
#include "cli/program_beside.h"
#include "plan/digest.h"

namespace cordon::cli {
namespace {

// Where the policy names no time.
constexpr std::chrono::days kLongestLife{30};

}  // namespace

LivingSandbox::Records::Records(std::unique_ptr<audit::Log> own, audit::Subject whose,
                                std::pair<std::string, std::string> typed, node::SeenRecord seen,
                                const std::vector<frame::Response>& rules)
    : log{std::move(own)},
      subject{std::move(whose)},
      network{*log, subject, std::move(typed)},
      inside{std::move(seen)},
      responses{*log, subject, rules} {
  network.count_in(responses);
  inside.count_in(responses);
}

LivingSandbox::LivingSandbox(const SandboxHouse& house, PreparedRun run,
                             std::pair<std::string, std::string> typed)
    : house_{house}, run_{std::move(run)}, typed_{std::move(typed)}, id_{run_.id.text()} {}

// What begins is in the log before it does.
Status LivingSandbox::open_records() {
  TRY(auto log, open_own_log(run_.state, house_.clock));
  const audit::Subject subject{.tenant = {}, .sandbox = id_};
  const std::vector<AuditEvent> begun{
      PolicyAccepted{plan::digest_of(run_.lowered)},
      SandboxStarted{isolation_of(run_.lowered.enforcement), run_.lowered.enforcement}};
  TRY_DO(log->append(subject, begun));
  TRY(node::SeenRecord inside, node::SeenRecord::of(*log, subject, run_.lowered));
  records_ = std::make_unique<Records>(std::move(log), subject, typed_, std::move(inside),
                                       run_.lowered.responses);
  return {};
}

Status LivingSandbox::start_launcher() {
  const bool spare = !house_.host.root && house_.host.has(Feature::id_ranges);
  TRY(auto launcher,
      sandbox::LocalLauncher::start(house_.executor, program_beside("cordon-launcher"), spare));
  launcher_ = std::make_unique<sandbox::LocalLauncher>(std::move(launcher));
  return {};
}

void LivingSandbox::respond() {
  records_->responses.act_by({.kill =
                                  [this](const node::Tripped& tripped) {
                                    resident_->take_response(tripped.response);
                                    resident_->end({.ending = Ending::policy,
                                                    .limit = tripped.response.more_than,
                                                    .peak = tripped.reached,
                                                    .culprit = tripped.response.rule});
                                  },
                              .freeze =
                                  [this](const node::Tripped& tripped) {
                                    resident_->take_response(tripped.response);
                                    resident_->freeze();
                                  }});
  if (records_->responses.counts(node::Counted::processes)) {
    resident_->also(node::count_births_of(resident_->sandbox(), records_->responses,
                                          [this] { return resident_->is_ending(); }));
  }
}

async::Task<void> LivingSandbox::launch(async::Scope& scope) {
  CO_TRY_DO(open_records());
  CO_TRY_DO(start_launcher());
  local_ = std::make_unique<LocalSandbox>(
      run_, house_.context, house_.executor, *launcher_,
      RunRecords{records_->network, records_->inside, records_->responses});
  CO_TRY(auto made, co_await local_->create(scope));
  const WallTime now = house_.clock.wall();
  const auto& wall = local_->lowered().budgets.wall;
  const WallTime expires = wall ? now + *wall : now + kLongestLife;
  resident_ = std::make_unique<node::Resident>(
      house_.executor, house_.clock,
      node::ResidentFacts{
          .id = run_.id, .tenant = {}, .created = now, .expires = expires, .labels = {}},
      local_->lowered(), std::move(made));
  respond();
  if (is_ended_) resident_->end({.ending = Ending::killed});
  co_return Status{};
}

asio::awaitable<Result<void>> LivingSandbox::live_in(async::Scope& scope, LivingSandbox*& self) {
  Status launched = co_await self->launch(scope);
  if (launched) {
    self->news_.tell();
    co_await self->resident_->live();
    self->records_->responses.act_by({});
    self->local_->end_monitor();
  }
  if (self->records_) self->records_->responses.revoke_by({});
  // However it ended: nothing of it goes on.
  scope.cancel();
  co_return launched;
}

void LivingSandbox::record_end(const Status& lived) {
  if (resident_) verdict_ = resident_->verdict();
  if (!lived) failure_ = lived.error();
  if (!records_) return;
  const Verdict told = verdict_.value_or(
      Verdict{.ending = Ending::infrastructure, .explanation = lived ? "" : lived.error().text()});
  if (auto written = records_->log->append(records_->subject, SandboxEnded{told}); !written) {
    failure_ = written.error();
  }
}

asio::awaitable<void> LivingSandbox::live() {
  const Status lived = co_await async::in_scope(live_in, this);
  if (local_) local_->drain();
  record_end(lived);
  // Lost before it named its sandbox: nobody knows what it had made but the next one.
  if (!lived && launcher_ && launcher_->is_lost()) {
    const bool spare = !house_.host.root && house_.host.has(Feature::id_ranges);
    static_cast<void>(sandbox::LocalLauncher::reclaim(program_beside("cordon-launcher"), spare));
  }
  is_over_ = true;
  news_.tell();
}

async::Task<void> LivingSandbox::stands() {
  while (!resident_ && !is_over_) co_await news_.wait(Ticks::max());
  if (resident_) co_return Status{};
  co_return failure_.value_or(Error{Errc::unavailable, "the sandbox has ended"});
}

Result<std::shared_ptr<node::ResidentProcess>> LivingSandbox::start(sandbox::Command command) {
  if (!resident_) return Error{Errc::unavailable, "the sandbox does not stand"};
  return resident_->start(std::move(command));
}

const plan::Lowered& LivingSandbox::lowered() const {
  return local_ ? local_->lowered() : run_.lowered;
}

void LivingSandbox::end() {
  is_ended_ = true;
  if (resident_) resident_->end({.ending = Ending::killed});
}

asio::awaitable<void> LivingSandbox::ended() {
  while (!is_over_) co_await news_.wait(Ticks::max());
}

bool LivingSandbox::is_ending() const {
  return is_ended_ || is_over_ || (resident_ && resident_->is_ending());
}

std::vector<Denial> LivingSandbox::take_denials() {
  if (!records_) return {};
  std::vector<Denial> all = records_->inside.take_denials();
  std::ranges::move(records_->network.take_denials(), std::back_inserter(all));
  std::ranges::move(records_->responses.take_taken(), std::back_inserter(all));
  return all;
}

Verdict LivingSandbox::judge(const node::ResidentProcess& process) const {
  const frame::LaunchPlan& plan = lowered().plan;
  node::EndFacts facts{.program = process.program(),
                       .pid = process.pid(),
                       .exited = process.exited(),
                       .memory_limit = plan.limits.memory,
                       .machine_memory = plan.machine.memory,
                       .pids_limit = plan.limits.pids,
                       .failure = process.failure()};
  if (resident_) facts.use = resident_->use();
  if (plan.disk.image) facts.disk_step = std::uint64_t{1} << 20U;
  return node::judge_end(facts);
}

}  // namespace cordon::cli
