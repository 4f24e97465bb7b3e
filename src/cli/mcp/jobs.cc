// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/jobs.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <iterator>

#include <fmt/format.h>

#include "node/start_command.h"

namespace cordon::cli {
namespace {

// For the streams of a command that has ended, which what it left behind may hold open.
constexpr std::chrono::milliseconds kLastWords{200};
// What is counted after each command; more than these are not worth the wait.
constexpr std::size_t kMostCounted = 20'000;
constexpr std::size_t kPiece = std::size_t{64} << 10U;

asio::awaitable<void> feed(std::shared_ptr<node::ResidentProcess> process, std::string input,
                           bool last) {
  while (!input.empty()) {
    const bool whole = input.size() <= kPiece;
    const Status written = co_await process->write(input.substr(0, kPiece), whole && last);
    if (!written) co_return;
    input.erase(0, kPiece);
    if (whole) co_return;
  }
  if (last) static_cast<void>(co_await process->write({}, true));
}

void take_output(Job& job) {
  node::ResidentProcess& process = *job.process;
  for (;;) {
    const auto piece = process.read(process.held_from(), kPiece);
    if (!piece) return;
    if (!job.is_answered) {
      (piece->stream == frame::Stream::out ? job.out : job.err).add(piece->bytes);
    }
    job.both.add(piece->bytes);
    node::Offsets taken = process.held_from();
    taken[static_cast<std::size_t>(piece->stream)] = piece->offset + piece->bytes.size();
    if (!process.acknowledge(taken)) return;
    job.news.tell();
  }
}

void add_denials(std::vector<Denial>& all, std::vector<Denial> more) {
  std::ranges::move(more, std::back_inserter(all));
}

bool is_limit(Ending ending) {
  return ending != Ending::exit && ending != Ending::signal && ending != Ending::killed;
}

}  // namespace

Result<std::shared_ptr<Job>> Jobs::begin(JobOrder order) {
  const auto running =
      std::ranges::count_if(jobs_, [](const auto& each) { return !each.second->is_over; });
  if (static_cast<std::size_t>(running) >= kMostRunning) {
    return Error{Errc::exhausted, "64 commands run already; end some first"};
  }
  forget_oldest();
  auto job = std::make_shared<Job>();
  job->name = fmt::format("p{}", ++last_);
  job->sandbox = order.sandbox;
  job->began = std::chrono::steady_clock::now();
  jobs_.emplace(last_, job);
  scope_.spawn(run(job, std::move(order)));
  return job;
}

void Jobs::forget_oldest() {
  auto over = static_cast<std::size_t>(
      std::ranges::count_if(jobs_, [](const auto& each) { return each.second->is_over; }));
  for (auto at = jobs_.begin(); at != jobs_.end() && over >= kMostKept;) {
    if (at->second->is_over) {
      at = jobs_.erase(at);
      --over;
    } else {
      ++at;
    }
  }
}

std::shared_ptr<Job> Jobs::find(const std::string& name) const {
  std::uint64_t number = 0;
  const char* const end = name.data() + name.size();
  if (!name.starts_with('p') || name.size() < 2) return nullptr;
  const auto [stopped, error] = std::from_chars(name.data() + 1, end, number);
  if (error != std::errc{} || stopped != end) return nullptr;
  const auto found = jobs_.find(number);
  return found == jobs_.end() ? nullptr : found->second;
}

void Jobs::cancel(Job& job) {
  if (job.is_over) return;
  job.is_cancelled = true;
  if (job.process) job.process->signal(SIGKILL, frame::SignalTo::group);
  job.news.tell();
}

void Jobs::cancel_all() {
  for (auto& [number, job] : jobs_) cancel(*job);
}

std::vector<Denial> Jobs::take_denials(Job& job) {
  if (job.living) add_denials(job.denials, job.living->take_denials());
  return std::move(job.denials);
}

asio::awaitable<void> Jobs::run(std::shared_ptr<Job> job, JobOrder order) {
  co_await run_in(job, std::move(order));
  job->living = nullptr;
  job->ended = std::chrono::steady_clock::now();
  job->is_over = true;
  job->news.tell();
}

asio::awaitable<void> Jobs::run_in(std::shared_ptr<Job> job, JobOrder order) {
  NotStarted why;
  const std::shared_ptr<LivingSandbox> living = co_await sandboxes_.acquire(job->sandbox, why);
  if (!living) {
    job->not_started = std::move(why.text);
    job->denials = std::move(why.denials);
    co_return;
  }
  job->living = living;
  if (!job->is_cancelled) {
    std::string input = std::move(order.start.input);
    auto started = living->start(node::command_of(std::move(order.start), living->lowered()));
    if (started) {
      job->process = *std::move(started);
      job->news.tell();
      scope_.spawn(feed(job->process, std::move(input), !order.keeps_input));
      co_await follow(job);
    } else {
      job->not_started = fmt::format("cordon: {}\n", started.error().text());
    }
  }
  const bool has_ended = co_await sandboxes_.release(job->sandbox);
  co_await conclude(job, living, has_ended);
}

asio::awaitable<void> Jobs::follow(std::shared_ptr<Job> job) {
  node::ResidentProcess& process = *job->process;
  for (;;) {
    take_output(*job);
    if (process.is_over()) co_return;
    if (process.exited() || (job->is_cancelled && process.pid() != 0)) break;
    co_await process.news();
    job->news.tell();
  }
  // What it left behind in its group ends with it; the rest ends with the sandbox.
  process.signal(SIGKILL, frame::SignalTo::group);
  const Ticks until = std::chrono::steady_clock::now() + kLastWords;
  while (!process.is_over() && std::chrono::steady_clock::now() < until) {
    take_output(*job);
    News pause;
    co_await pause.wait(
        std::min(until, std::chrono::steady_clock::now() + std::chrono::milliseconds{10}));
  }
  take_output(*job);
}

asio::awaitable<void> Jobs::conclude(std::shared_ptr<Job> job,
                                     std::shared_ptr<LivingSandbox> living, bool has_ended) {
  if (job->process) {
    take_output(*job);
    const node::ResidentProcess& process = *job->process;
    if (const auto& exited = process.exited()) {
      (exited->by_signal ? job->signal : job->exit_code) = static_cast<int>(exited->value);
    }
    if (const auto& failed = process.failed()) {
      job->not_started = fmt::format("cordon: it could not be started: {}\n", process.failure());
    }
    const auto& verdict = living->verdict();
    if (verdict && is_limit(verdict->ending)) {
      job->ended_by = to_line(*verdict);
    } else if (const Verdict own = living->judge(process);
               has_ended && process.exited() && is_limit(own.ending)) {
      job->ended_by = to_line(own);
    } else if (!process.exited() && !process.failed()) {
      job->ended_by = job->is_cancelled ? "cancelled" : "its sandbox has ended";
    }
  }
  add_denials(job->denials, living->take_denials());
  if (!has_ended || !sandboxes_.has_layer() || job->is_cancelled) co_return;
  const auto seen = co_await sandboxes_.on_layer(
      [](const ReviewLayer& layer) { return layer.look(kMostCounted); });
  if (seen) job->changed = count(seen->changes);
}

}  // namespace cordon::cli
