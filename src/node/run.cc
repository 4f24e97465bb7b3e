// SPDX-License-Identifier: Apache-2.0
#include "node/run.h"

#include <csignal>

#include <boost/asio/steady_timer.hpp>

#include "async/deadline.h"
#include "async/scope.h"
#include "async/waiting.h"
#include "node/start_command.h"
#include "node/watch.h"

namespace cordon::node {
namespace {

// For pid 1 to end what it was told to end, and for the last bytes to be taken.
constexpr std::chrono::seconds kPatience{2};

// The state of one run; its coroutines live in its scope.
class Run {
 public:
  Run(sandbox::Sandbox& sandbox, const plan::Lowered& lowered, RunFace& face, Responses* responses)
      : sandbox_{sandbox},
        lowered_{lowered},
        face_{face},
        responses_{responses},
        watch_{lowered.plan, lowered.budgets, sandbox.groups(), sandbox.pid()} {}

  asio::awaitable<Result<RunOutcome>> drive(async::Scope& scope, sandbox::Command command);

 private:
  asio::awaitable<void> follow_process();
  Status take(const frame::Failed& failed);
  asio::awaitable<void> take(frame::Output output);
  void take(const frame::Exited& exited);
  asio::awaitable<void> keep_wall_time();
  asio::awaitable<void> keep_budgets();
  asio::awaitable<void> count_births();
  void respond();
  asio::awaitable<void> wait_for_caller();
  asio::awaitable<void> end_gently();
  asio::awaitable<void> insist();
  void stop(Stop why, bool gently);
  asio::awaitable<Result<RunOutcome>> conclude();

  sandbox::Sandbox& sandbox_;
  const plan::Lowered& lowered_;
  RunFace& face_;
  Responses* responses_;  // nothing: there are none
  Watch watch_;
  async::Scope* scope_ = nullptr;
  std::unique_ptr<sandbox::Process> process_;
  EndFacts facts_;
  RunOutcome outcome_;
  int open_streams_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

void Run::stop(Stop why, bool gently) {
  if (facts_.stopped || facts_.exited) return;
  facts_.stopped = std::move(why);
  if (gently) {
    process_->signal(SIGTERM, frame::SignalTo::all);
    scope_->spawn(end_gently());
  } else {
    process_->signal(SIGKILL, frame::SignalTo::all);
    scope_->spawn(insist());
  }
}

asio::awaitable<void> Run::end_gently() {
  asio::steady_timer grace{co_await asio::this_coro::executor, kGrace};
  co_await grace.async_wait(async::kQuiet);
  process_->signal(SIGKILL, frame::SignalTo::all);
  co_await insist();
}

// Pid 1 is asked, and not relied on: where it does not answer, the sandbox is ended from outside.
asio::awaitable<void> Run::insist() {
  asio::steady_timer patience{co_await asio::this_coro::executor, kPatience};
  const auto [error] = co_await patience.async_wait(async::kQuiet);
  if (!error) sandbox_.abandon();
}

asio::awaitable<void> Run::keep_wall_time() {
  if (!lowered_.budgets.wall) co_return;
  asio::steady_timer timer{co_await asio::this_coro::executor, *lowered_.budgets.wall};
  const auto [error] = co_await timer.async_wait(async::kQuiet);
  const auto seconds = static_cast<std::uint64_t>(lowered_.budgets.wall->count());
  if (!error) stop({Ending::wall_time, seconds, seconds, {}}, true);
}

asio::awaitable<void> Run::keep_budgets() {
  if (!watch_.is_needed()) co_return;
  asio::steady_timer timer{co_await asio::this_coro::executor};
  while (!facts_.exited) {
    timer.expires_after(plan::kSample);
    if (const auto [error] = co_await timer.async_wait(async::kQuiet); error) co_return;
    if (auto over = watch_.look()) {
      stop(*std::move(over), false);
      co_return;
    }
  }
}

asio::awaitable<void> Run::count_births() {
  if (responses_ == nullptr || !responses_->counts(Counted::processes)) co_return;
  co_await count_births_of(sandbox_, *responses_, [this] { return facts_.exited.has_value(); });
}

// Where the sandbox is frozen its budgets go on, and so does the caller's patience.
void Run::respond() {
  if (responses_ == nullptr) return;
  responses_->act_by({.kill =
                          [this](const Tripped& tripped) {
                            stop({.ending = Ending::policy,
                                  .limit = tripped.response.more_than,
                                  .peak = tripped.reached,
                                  .culprit = tripped.response.rule},
                                 false);
                          },
                      .freeze =
                          [this](const Tripped& /*tripped*/) {
                            process_->signal(SIGSTOP, frame::SignalTo::all);
                          }});
}

asio::awaitable<void> Run::wait_for_caller() {
  co_await face_.until_stopped();
  stop({.ending = Ending::killed}, true);
}

Status Run::take(const frame::Failed& failed) {
  outcome_.failed_step = failed.step;
  outcome_.failed_errno = failed.error_number;
  return Error::from_errno(failed.step, failed.error_number);
}

asio::awaitable<void> Run::take(frame::Output output) {
  outcome_.output_bytes += output.bytes.size();
  const auto& budget = lowered_.budgets.output;
  if (budget && outcome_.output_bytes > *budget) {
    const std::uint64_t over = outcome_.output_bytes - *budget;
    output.bytes.resize(output.bytes.size() - std::min<std::uint64_t>(over, output.bytes.size()));
    stop({Ending::output, *budget, outcome_.output_bytes, {}}, false);
  }
  // A caller that has closed its end takes nothing more; the program goes on.
  if (!output.bytes.empty()) {
    static_cast<void>(co_await face_.output(output.stream, std::move(output.bytes)));
  }
}

void Run::take(const frame::Exited& exited) {
  facts_.exited = exited;
  if (open_streams_ <= 0) return;  // the end of the sandbox is what comes next
  scope_->spawn(insist());
  // The command is over: what it left behind ends with it, and with that the last writers of its
  // streams.
  process_->signal(SIGKILL, frame::SignalTo::all);
}

asio::awaitable<void> Run::follow_process() {
  while (!(facts_.exited && open_streams_ <= 0)) {
    auto event = co_await process_->next();
    if (!event) {
      if (!facts_.exited) {
        facts_.failure = event.error().text();
        facts_.machine_is_full = is_full_machine(lowered_.plan, event.error());
      }
      co_return;
    }
    if (const auto* started = std::get_if<frame::Started>(&*event)) {
      facts_.pid = started->pid;
      outcome_.started = true;
      // A machine may take seconds to stand: none of them is its program's.
      watch_.begin(true);
      scope_->spawn(keep_wall_time());
    } else if (const auto* failed = std::get_if<frame::Failed>(&*event)) {
      static_cast<void>(take(*failed));
      co_return;
    } else if (auto* output = std::get_if<frame::Output>(&*event)) {
      co_await take(std::move(*output));
    } else if (std::holds_alternative<frame::OutputEnd>(*event)) {
      --open_streams_;
    } else if (const auto* exited = std::get_if<frame::Exited>(&*event)) {
      take(*exited);
    }
  }
}

asio::awaitable<Result<RunOutcome>> Run::conclude() {
  const auto ended = co_await async::within(sandbox::kLongestDestroy, sandbox_.destroy());
  if (ended) facts_.use = ended->use;
  facts_.largest = watch_.largest();
  facts_.memory_limit = lowered_.plan.limits.memory;
  facts_.pids_limit = lowered_.plan.limits.pids;
  facts_.machine_memory = lowered_.plan.machine.memory;
  // ext4 takes a large write in large pieces, and refuses the piece that does not fit.
  if (lowered_.plan.disk.image) facts_.disk_step = std::uint64_t{1} << 20U;
  if (facts_.exited && facts_.exited->oom_kills > 0) {
    facts_.use.oom_kills = facts_.use.oom_kills.value_or(0) + facts_.exited->oom_kills;
  }
  outcome_.use = facts_.use;
  outcome_.verdict = judge_end(facts_);
  outcome_.wall = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - began_);
  co_return outcome_;
}

asio::awaitable<Result<RunOutcome>> Run::drive(async::Scope& scope, sandbox::Command command) {
  scope_ = &scope;
  facts_.program = program_of(command);
  open_streams_ = command.terminal ? 1 : 2;
  // First, so that it goes out with the greeting.
  process_ = sandbox_.start(std::move(command));
  scope.spawn(sandbox_.serve());
  face_.begin(*process_);
  scope.spawn(face_.pump_input(*process_));
  scope.spawn(keep_budgets());
  scope.spawn(count_births());
  respond();
  scope.spawn(wait_for_caller());
  co_await follow_process();
  auto outcome = co_await conclude();
  if (responses_ != nullptr) responses_->act_by({});
  scope.cancel();
  co_return outcome;
}

}  // namespace

async::Task<RunOutcome> run(sandbox::Sandbox& sandbox, const plan::Lowered& lowered,
                            sandbox::Command command, RunFace& face, Responses* responses) {
  Run state{sandbox, lowered, face, responses};
  co_return co_await async::in_scope(
      [](async::Scope& scope, Run* run,
         sandbox::Command& what) -> asio::awaitable<Result<RunOutcome>> {
        co_return co_await run->drive(scope, std::move(what));
      },
      &state, std::move(command));
}

}  // namespace cordon::node
