// SPDX-License-Identifier: Apache-2.0
// POST /v1/run: create, run, collect, destroy in one request.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "api/rest/collecting.h"
#include "api/rest/rest.h"
#include "api/rest/shown.h"

namespace cordon::api {
namespace {

// Keeps what the command writes.
class Collector final : public node::StoppableFace {
 public:
  Collector(const asio::any_io_executor& executor, CollectingRoom& room, std::string input)
      : stopped_{executor, asio::steady_timer::time_point::max()},
        share_{room},
        input_{std::move(input)} {}

  void begin(sandbox::Process&) override {}
  async::Task<void> output(frame::Stream stream, std::string bytes) override {
    is_full_ = is_full_ || !share_.take(bytes.size());
    if (is_full_) {
      stop();
    } else {
      (stream == frame::Stream::out ? out_ : err_) += bytes;
    }
    co_return Status{};
  }
  asio::awaitable<void> pump_input(sandbox::Process& process) override {
    static_cast<void>(co_await process.write(std::move(input_), true));
  }
  asio::awaitable<void> until_stopped() override {
    while (!is_stopped_) co_await stopped_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  void stop() override {
    is_stopped_ = true;
    stopped_.cancel();
  }
  // Others have what an answer could be collected in.
  bool is_full() const noexcept { return is_full_; }
  std::string take_out() { return std::move(out_); }
  std::string take_err() { return std::move(err_); }

 private:
  asio::steady_timer stopped_;  // never fires: cancelled by stop()
  bool is_stopped_ = false;
  CollectingRoom::Share share_;
  bool is_full_ = false;
  std::string input_;
  std::string out_;
  std::string err_;
};

}  // namespace

async::Task<void> Rest::run(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(const std::string body, co_await call.exchange.read_body(wire::kLargestRequest));
  node::WhyNotAdmitted why;
  auto request = wire::read_run_request(body, why.problems);
  if (!request) co_return co_await answer_problem(call, problem_with(request.error(), why));
  auto& output = request->create.policy.resources.output;
  if (!output || output->value > kMostCollected)
    output = policy::Stated<std::uint64_t>{kMostCollected, {}};
  CO_TRY(const auto unit, unit_of(call));
  const auto collector = std::make_shared<Collector>(co_await asio::this_coro::executor,
                                                     collecting_, std::move(request->start.input));
  auto ran = co_await parts_.residents.run(
      {.tenant = owner_of(call), .request = *std::move(request), .unit = unit}, call.authority,
      collector, why);
  if (!ran) co_return co_await answer_problem(call, problem_with(ran.error(), why));
  if (collector->is_full()) {
    co_return Error{
        Errc::exhausted,
        "the node collects 256 MiB of output for all together, and has no room for this; "
        "write less, or create a sandbox and stream what its processes write"};
  }
  node::RunOutcome& outcome = ran->outcome;
  wire::RunAnswer answer{
      .id = ran->id.text(),
      .verdict = std::move(outcome.verdict),
      .out = collector->take_out(),
      .err = collector->take_err(),
      .use = {.wall_milliseconds = static_cast<std::uint64_t>(outcome.wall.count()),
              .cpu_microseconds = outcome.use.cpu_microseconds,
              .memory_peak = outcome.use.memory_peak,
              .pids_peak = outcome.use.pids_peak},
      .enforcement = std::move(ran->enforcement),
      .denials = std::move(outcome.denials)};
  if (!outcome.started) {
    answer.failure = Error::from_errno(outcome.failed_step, outcome.failed_errno).text();
  }
  co_return co_await answer_json(call, 200, wire::to_json(answer));
}

}  // namespace cordon::api
