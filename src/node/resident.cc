// SPDX-License-Identifier: Apache-2.0
#include "node/resident.h"

#include <algorithm>

#include "async/deadline.h"
#include "async/waiting.h"
#include "node/start_command.h"
#include "os/fault_point.h"
#include "plan/ingress.h"
#include "plan/narrow.h"

namespace cordon::node {
namespace {

// How long writes that are under way are waited for.
constexpr std::chrono::seconds kCalm{10};
constexpr std::chrono::milliseconds kBetweenCalmLooks{20};

// Whoever is heard is there, also when it is forgotten meanwhile.
asio::awaitable<void> follow_shared(std::shared_ptr<ResidentProcess> process) {
  co_await process->follow();
}

}  // namespace

Resident::Resident(const asio::any_io_executor& executor, const Clock& clock, ResidentFacts facts,
                   plan::Lowered lowered, std::unique_ptr<sandbox::Sandbox> sandbox)
    : executor_{executor},
      clock_{clock},
      facts_{std::move(facts)},
      until_{facts_.until.value_or(ticks_at(facts_.expires))},
      lowered_{std::move(lowered)},
      sandbox_{std::move(sandbox)},
      watch_{lowered_.plan, lowered_.budgets, sandbox_->groups(), sandbox_->pid()},
      look_{executor},
      told_{executor},
      ended_{executor, asio::steady_timer::time_point::max()},
      narrowed_{executor, asio::steady_timer::time_point::max()} {}

asio::awaitable<void> Resident::serve_guest() {
  co_await sandbox_->serve();
  const Error why = sandbox_->why_ended();
  if (why.code() == Errc::timeout) failure_ = why.text();
  machine_is_full_ = is_full_machine(lowered_.plan, why);
  is_gone_ = true;
  told_.cancel();
}

asio::awaitable<void> Resident::keep_budgets() {
  if (!watch_.is_needed()) co_return;
  while (!is_ending()) {
    look_.expires_after(pause_);
    // Cut short by a process that begins, or by the end.
    const auto [is_cut] = co_await look_.async_wait(async::kQuiet);
    if (is_cut) continue;
    if (auto over = watch_.look()) end(*std::move(over));
    pause_ = watch_.rests() ? std::min(pause_ * 2, plan::kRestingSample) : plan::kSample;
  }
}

asio::awaitable<bool> Resident::serve_until_told(async::Scope& scope) {
  scope_ = &scope;
  scope.spawn(serve_guest());
  follow_standby();
  scope.spawn(keep_budgets());
  for (auto& act : beside_) scope.spawn(std::move(act));
  beside_.clear();
  while (!is_ending()) {
    const auto left = until_ - clock_.ticks();
    if (left <= Ticks::duration{0}) {
      const auto life = std::chrono::ceil<std::chrono::seconds>(facts_.expires - facts_.created);
      const auto seconds = static_cast<std::uint64_t>(life.count());
      end({Ending::wall_time, seconds, seconds, {}});
      break;
    }
    told_.expires_after(left);
    co_await told_.async_wait(async::kQuiet);
  }
  co_await conclude();
  scope.cancel();
  scope_ = nullptr;
  co_return true;
}

asio::awaitable<void> Resident::conclude() {
  EndFacts facts{.program = "sandbox", .stopped = stop_};
  os::fault_point("node.end.begun");
  if (const auto ended = co_await async::within(sandbox::kLongestDestroy, sandbox_->destroy())) {
    facts.use = ended->use;
  }
  use_ = facts.use;
  facts.largest = watch_.largest();
  facts.memory_limit = lowered_.plan.limits.memory;
  facts.pids_limit = lowered_.plan.limits.pids;
  facts.machine_memory = lowered_.plan.machine.memory;
  facts.machine_is_full = machine_is_full_;
  if (!stop_) facts.failure = failure_;
  verdict_ = judge_end(facts);
}

asio::awaitable<void> Resident::live() {
  co_await async::in_scope(
      [](async::Scope& scope, Resident* self) { return self->serve_until_told(scope); }, this);
  ended_.cancel();
}

void Resident::end(Stop why) {
  if (!stop_) stop_ = std::move(why);
  told_.cancel();
}

asio::awaitable<void> Resident::ended() {
  while (!verdict_) co_await ended_.async_wait(async::kQuiet);
}

void Resident::narrow(plan::Lowered narrower) {
  ++changes_;
  // Not the plan: that is what was launched, and others read it.
  lowered_.network = std::move(narrower.network);
  lowered_.ingress = std::move(narrower.ingress);
  lowered_.budgets = narrower.budgets;
  lowered_.enforcement = std::move(narrower.enforcement);
  if (const auto& wall = lowered_.budgets.wall) {
    set_expires(std::min<WallTime>(facts_.expires, facts_.created + *wall));
  }
  count_output(0);
  narrowed_.cancel();
}

void Resident::thaw() {
  if (!is_frozen() && !is_held_) sandbox_->go_on();
}

void Resident::stand_as_written() {
  if (is_frozen() || is_paused()) {
    freeze();
  } else {
    thaw();
  }
}

Status Resident::may_change() const {
  if (!is_held_) return {};
  return Error{Errc::unavailable,
               "the sandbox is being moved to another node, and nothing of it changes meanwhile"};
}

Result<Resident::FileChange> Resident::begin_file_change() {
  TRY_DO(may_change());
  return FileChange{file_changes_};
}

async::Task<void> Resident::hold() {
  if (is_held_) co_return Error{Errc::exists, "the sandbox is being moved already"};
  is_held_ = true;
  for (const auto& process : processes()) process->hold(true);
  // Whoever asked for it may be thrown out while this waits.
  struct Until {
    Resident* held;
    ~Until() {
      if (held != nullptr) held->release();
    }
  } until_stands{this};
  // What is under way ends first: stopped in the middle it would end after its copy was taken.
  asio::steady_timer pause{executor_};
  for (Ticks now = Ticks::clock::now(), until = now + kCalm; file_changes_ > 0 && now < until;
       now = Ticks::clock::now()) {
    pause.expires_after(kBetweenCalmLooks);
    co_await pause.async_wait(async::kQuiet);
  }
  if (file_changes_ > 0) {
    co_return Error{Errc::unavailable, "files of the sandbox are being written; try again later"};
  }
  until_stands.held = nullptr;
  sandbox_->stand_still();
  co_return Status{};
}

void Resident::release() {
  is_held_ = false;
  for (const auto& process : processes()) process->hold(false);
  stand_as_written();
}

Spent Resident::spent() {
  const auto cpu = std::chrono::ceil<std::chrono::milliseconds>(use_now().cpu);
  Spent all = facts_.papers.spent;
  all.cpu_milliseconds += static_cast<std::uint64_t>(cpu.count());
  all.output += output_;
  if (count_sent_) all.sent += count_sent_();
  return all;
}

bool Resident::is_frozen() const noexcept {
  return std::ranges::any_of(lowered_.responses, [](const frame::Response& response) {
    return response.is_taken && response.then == "freeze";
  });
}

void Resident::revoke_network(const std::string& rule) {
  ++changes_;
  if (lowered_.network) {
    lowered_.network = plan::without_network(*std::move(lowered_.network), rule);
  }
}

void Resident::take_response(const frame::Response& taken) {
  ++changes_;
  for (frame::Response& response : lowered_.responses) {
    if (response.is_like(taken)) response.is_taken = true;
  }
}

bool Resident::lets_in(std::uint16_t port) const { return plan::lets_in(lowered_.ingress, port); }

asio::awaitable<void> Resident::until_shut(std::uint16_t port) {
  while (lets_in(port)) co_await narrowed_.async_wait(async::kQuiet);
}

void Resident::count_output(std::uint64_t bytes) {
  output_ += bytes;
  const auto& most = lowered_.budgets.output;
  if (most && output_ > *most) end({Ending::output, *most, output_, {}});
}

void Resident::set_expires(WallTime expires) {
  ++changes_;
  facts_.expires = expires;
  until_ = ticks_at(expires);
  told_.cancel();
}

bool Resident::drop_grants(const std::string& secret) {
  return std::erase_if(facts_.grants,
                       [&](const HeldGrant& held) { return held.grant.from == secret; }) > 0;
}

// The oldest first. A process that has ended holds its ring in the sandbox until it is forgotten.
void Resident::forget_finished() {
  std::size_t finished = static_cast<std::size_t>(
      std::ranges::count_if(processes_, [](const auto& each) { return each.second->is_over(); }));
  for (auto at = processes_.begin(); at != processes_.end() && finished >= kMostFinished;) {
    if (!at->second->is_over()) {
      ++at;
      continue;
    }
    --finished;
    at->second->forget();
    at = processes_.erase(at);
  }
}

std::shared_ptr<ResidentProcess> Resident::follow(ProcessFacts facts,
                                                  std::unique_ptr<sandbox::Process> process,
                                                  bool is_new) {
  const std::uint32_t number = process->number();
  count_output(facts.acknowledged[0] + facts.acknowledged[1]);
  auto kept = std::make_shared<ResidentProcess>(executor_, std::move(facts), std::move(process));
  kept->when_written([this](std::uint64_t bytes) { count_output(bytes); });
  processes_.emplace(number, kept);
  if (pause_ > plan::kSample) {
    pause_ = plan::kSample;
    look_.cancel();
  }
  scope_->spawn(follow_shared(kept));
  if (!watch_.has_begun()) scope_->spawn(begin_budgets(kept, is_new));
  if (told_process_) scope_->spawn(tell_of(kept, is_new));
  return kept;
}

asio::awaitable<void> Resident::begin_budgets(std::shared_ptr<ResidentProcess> process,
                                              bool is_new) {
  while (process->pid() == 0 && !process->is_over()) co_await process->news();
  watch_.begin(is_new);
}

asio::awaitable<void> Resident::tell_of(std::shared_ptr<ResidentProcess> process, bool is_new) {
  while (process->pid() == 0 && !process->is_over()) co_await process->news();
  if (is_new && process->pid() != 0) told_process_(*process, false);
  while (!process->exited() && !process->is_over()) co_await process->news();
  // One that ends with its sandbox is told by that end.
  if (process->exited() || process->failed()) told_process_(*process, true);
}

void Resident::follow_standby() {
  const auto& standby = lowered_.plan.setup.standby;
  if (!standby) return;
  // One that another node had is adopted with all others.
  auto process = sandbox_->adopt(frame::kStandby, sandbox::Acknowledging::by_caller);
  if (process) follow({.program = standby->arguments.front()}, std::move(process), true);
}

async::Task<void> Resident::adopt_processes() {
  CO_TRY(const frame::Processes found, co_await sandbox_->processes());
  for (const frame::KnownProcess& known : found.known) {
    if (scope_ == nullptr) break;
    if (known.ended && known.end_acknowledged) continue;
    auto process = sandbox_->adopt(known.process, sandbox::Acknowledging::by_caller);
    if (!process) continue;
    follow({.program = known.name,
            .has_terminal = known.terminal,
            .acknowledged = {known.out_acknowledged, known.err_acknowledged},
            .is_adopted = true},
           std::move(process), false);
  }
  co_return Status{};
}

Result<std::shared_ptr<ResidentProcess>> Resident::start(sandbox::Command command) {
  if (is_ending() || scope_ == nullptr) {
    return Error{Errc::unavailable, "the sandbox is ending"};
  }
  TRY_DO(may_change());
  if (is_frozen()) {
    return Error{Errc::denied,
                 "the sandbox is frozen, by a response of its policy; it can be ended"};
  }
  if (is_paused()) {
    return Error{Errc::exists,
                 "the sandbox is paused: nothing is started in it until it is resumed, by "
                 "`connect` of the E2B API; it can be ended"};
  }
  if (command.as_root && !lowered_.plan.setup.fences.root_too) {
    return Error{Errc::denied,
                 "no process is root in this sandbox: its policy has to say `process.user = "
                 "\"either\"`, and so has every ceiling that speaks of it"};
  }
  forget_finished();
  if (processes_.size() >= kMostProcesses) {
    return Error{Errc::exhausted, "the sandbox has 1024 processes; end some first"};
  }
  ProcessFacts facts{.program = program_of(command), .has_terminal = command.terminal.has_value()};
  command.acknowledging = sandbox::Acknowledging::by_caller;
  return follow(std::move(facts), sandbox_->start(std::move(command)), true);
}

std::shared_ptr<ResidentProcess> Resident::process(std::uint32_t number) const {
  const auto found = processes_.find(number);
  return found == processes_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<ResidentProcess>> Resident::processes() const {
  std::vector<std::shared_ptr<ResidentProcess>> all;
  all.reserve(processes_.size());
  for (const auto& [number, process] : processes_) all.push_back(process);
  return all;
}

}  // namespace cordon::node
