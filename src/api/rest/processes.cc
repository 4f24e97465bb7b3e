// SPDX-License-Identifier: Apache-2.0
// Processes of a sandbox: start, list, look at, wait, feed, signal.
#include <csignal>

#include "api/rest/rest.h"
#include "api/rest/shown.h"
#include "async/deadline.h"
#include "node/start_command.h"

namespace cordon::api {
namespace {

constexpr std::uint64_t kLongestWait = 3600;                // seconds
constexpr std::size_t kMostInput = std::size_t{64} << 20U;  // of one request

}  // namespace

async::Task<void> Rest::start_process(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(const auto resident, living(call));
  if (resident->is_paused()) co_return co_await answer_problem(call, is_paused_problem());
  CO_TRY(const std::string body, co_await call.exchange.read_body(wire::kLargestRequest));
  node::WhyNotAdmitted why;
  auto request = wire::read_start_request(body, why.problems);
  if (!request) co_return co_await answer_problem(call, problem_with(request.error(), why));
  std::string input = std::move(request->input);
  sandbox::Command command = node::command_of(*std::move(request), resident->lowered());
  CO_TRY(const auto process, resident->start(std::move(command)));
  // Until it runs, or does not: only then there is something to tell.
  while (process->pid() == 0 && !process->is_over()) co_await process->news();
  if (!input.empty()) CO_TRY_DO(co_await process->write(std::move(input), false));
  co_return co_await answer_json(call, 201, wire::to_json(shown(*process)));
}

async::Task<void> Rest::list_processes(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(const auto resident, living(call));
  std::vector<wire::ProcessAnswer> all;
  for (const auto& process : resident->processes()) all.push_back(shown(*process));
  co_return co_await answer_json(call, 200, wire::to_json(all));
}

async::Task<void> Rest::get_process(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(const auto found, process(*resident, call));
  co_return co_await answer_json(call, 200, wire::to_json(shown(*found)));
}

async::Task<void> Rest::wait_process(Call& call) {
  CO_TRY_DO(only_known(call, {"seconds"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(const auto found, process(*resident, call));
  CO_TRY(const auto seconds, number_of(call, "seconds"));
  const std::chrono::seconds limit{std::min(seconds.value_or(kLongestWait), kLongestWait)};
  const auto ended = [](std::shared_ptr<node::ResidentProcess> process) -> async::Task<void> {
    while (!process->exited() && !process->is_over()) co_await process->news();
    co_return Status{};
  };
  // A wait that is over without an exit is an answer too: its state says "running".
  static_cast<void>(co_await async::within(limit, ended(found)));
  co_return co_await answer_json(call, 200, wire::to_json(shown(*found)));
}

async::Task<void> Rest::write_input(Call& call) {
  CO_TRY_DO(only_known(call, {"end"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(const auto found, process(*resident, call));
  const auto end = call.query.find("end");
  const bool last = end != call.query.end() && end->second == "true";
  std::vector<char> room(frame::kMostData);
  std::uint64_t written = 0;
  while (true) {
    CO_TRY(const std::size_t count, co_await call.exchange.read_some(room));
    if (count == 0) break;
    written += count;
    if (written > kMostInput) {
      co_return Error{Errc::exhausted, "input: at most 64 MiB in one request"};
    }
    CO_TRY_DO(co_await found->write(std::string(room.data(), count), false));
  }
  if (last) CO_TRY_DO(co_await found->write({}, true));
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::signal_process(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(const auto found, process(*resident, call));
  CO_TRY(const std::string body, co_await call.exchange.read_body(wire::kLargestRequest));
  node::WhyNotAdmitted why;
  const auto request = wire::read_signal_request(body, why.problems);
  if (!request) co_return co_await answer_problem(call, problem_with(request.error(), why));
  CO_TRY_DO(resident->may_change());
  const auto to = request->to_group ? frame::SignalTo::group : frame::SignalTo::process;
  found->signal(request->number, to);
  co_return co_await answer_nothing(call);
}

}  // namespace cordon::api
