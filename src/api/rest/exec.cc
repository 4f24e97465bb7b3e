// SPDX-License-Identifier: Apache-2.0
// POST /v1/sandboxes/{id}/run: one command in a sandbox that lives, its output collected, answered
// when it is over.
#include <csignal>

#include "api/rest/collecting.h"
#include "api/rest/rest.h"
#include "api/rest/shown.h"
#include "async/deadline.h"
#include "async/scope.h"
#include "node/start_command.h"

namespace cordon::api {
namespace {

constexpr std::uint64_t kLongestRun = 3600;  // seconds
constexpr std::size_t kPieceOfOutput = std::size_t{64} << 10U;
// For one that was killed to be gone.
constexpr std::chrono::seconds kKilled{5};

using Process = std::shared_ptr<node::ResidentProcess>;

// Whoever leaves, or whose token is revoked, leaves nothing that runs.
class EndsWithCaller {
 public:
  explicit EndsWithCaller(Process process) : process_{std::move(process)} {}
  EndsWithCaller(const EndsWithCaller&) = delete;
  EndsWithCaller& operator=(const EndsWithCaller&) = delete;
  ~EndsWithCaller() {
    if (!process_->exited()) kill();
    // Nobody can ask for it: its number was told to nobody, or with the answer that has all of it.
    static_cast<void>(process_->acknowledge(process_->written()));
  }
  void kill() { process_->signal(SIGKILL, frame::SignalTo::group); }

 private:
  Process process_;
};

struct Collected {
  explicit Collected(CollectingRoom& room) : share{room} {}
  CollectingRoom::Share share;
  std::string out;
  std::string err;
  bool is_cut = false;  // there was more than is collected
};

// Until it is over, or has written more than is collected.
async::Task<void> collect(Process process, Collected& into) {
  node::Offsets at{};
  while (true) {
    while (const auto piece = process->read(at, kPieceOfOutput)) {
      const bool is_error = piece->stream == frame::Stream::err;
      into.is_cut = !into.share.take(piece->bytes.size());
      if (into.is_cut) co_return Status{};
      (is_error ? into.err : into.out) += piece->bytes;
      at[is_error ? 1 : 0] = piece->offset + piece->bytes.size();
      CO_TRY_DO(process->acknowledge(at));
    }
    if (process->is_over()) co_return Status{};
    co_await process->news();
  }
}

// What nobody wants any more, until it is over.
async::Task<void> drain(Process process) {
  while (!process->is_over()) {
    CO_TRY_DO(process->acknowledge(process->written()));
    co_await process->news();
  }
  co_return Status{};
}

asio::awaitable<void> feed(Process process, std::string input) {
  static_cast<void>(co_await process->write(std::move(input), true));
}

asio::awaitable<Status> drive(async::Scope& scope, const Process& process, std::string& input,
                              std::chrono::seconds& limit, Collected*& into) {
  scope.spawn(feed(process, std::move(input)));
  const Status done = co_await async::within(limit, collect(process, *into));
  scope.cancel();
  co_return done;
}

}  // namespace

async::Task<void> Rest::run_in_sandbox(Call& call) {
  CO_TRY_DO(only_known(call, {"seconds"}));
  CO_TRY(const auto resident, living(call));
  if (resident->is_paused()) co_return co_await answer_problem(call, is_paused_problem());
  CO_TRY(const auto seconds, number_of(call, "seconds"));
  CO_TRY(const std::string body, co_await call.exchange.read_body(wire::kLargestRequest));
  node::WhyNotAdmitted why;
  auto request = wire::read_start_request(body, why.problems);
  if (!request) co_return co_await answer_problem(call, problem_with(request.error(), why));
  if (request->terminal) {
    co_return Error{Errc::invalid, "`pty`: nobody sits there; start a process and attach to it"};
  }
  std::string input = std::move(request->input);
  const std::chrono::seconds limit{std::min(seconds.value_or(kLongestRun), kLongestRun)};
  sandbox::Command command = node::command_of(*std::move(request), resident->lowered());
  CO_TRY(const Process process, resident->start(std::move(command)));
  EndsWithCaller ending{process};
  Collected collected{collecting_};
  const Status done =
      co_await async::in_scope(drive, Process{process}, std::move(input), limit, &collected);
  const bool is_late = !done && done.error().code() == Errc::timeout;
  if (!done && !is_late) co_return done.error();
  if (is_late || collected.is_cut) {
    ending.kill();
    // What it had written by then is there; what comes behind the bound is not wanted.
    auto ended = collected.is_cut ? drain(process) : collect(process, collected);
    static_cast<void>(co_await async::within(kKilled, std::move(ended)));
  }
  wire::ExecAnswer answer{.process = shown(*process),
                          .out = std::move(collected.out),
                          .err = std::move(collected.err),
                          .is_late = is_late,
                          .is_cut = collected.is_cut};
  co_return co_await answer_json(call, 200, wire::to_json(answer));
}

}  // namespace cordon::api
