// SPDX-License-Identifier: Apache-2.0
#include "cli/exec_session.h"

#include <csignal>
#include <ostream>

#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "async/waiting.h"
#include "cli/exec_words.h"
#include "cli/node_away.h"
#include "cli/node_words.h"
#include "cli/process_ends.h"

namespace cordon::cli {
namespace {}  // namespace

ExecSession::ExecSession(const asio::any_io_executor& executor, const Node& node,
                         const ExecOrder& order, Context& context)
    : node_{node},
      order_{order},
      context_{context},
      signals_{executor},
      done_{executor, asio::steady_timer::time_point::max()},
      sink_{executor, order.options.json, order.raw},
      input_{executor, 0, os::Ready::read} {
  // Before anything runs: none that comes meanwhile is lost.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    signals_.add(number);
}

void ExecSession::finish(int code) {
  if (!code_) code_ = code;
  done_.cancel();
}

std::string ExecSession::where() const { return where_it_goes_on(order_, number_); }

asio::awaitable<bool> ExecSession::start() {
  int code = 0;
  auto number = co_await begin_process(node_, order_, context_, code);
  if (!number) finish(code);
  if (!number) co_return false;
  number_ = *std::move(number);
  path_ += '/' + number_;
  co_return true;
}

asio::awaitable<void> ExecSession::follow() {
  const auto followed = co_await follower_->follow();
  tell_gone_bytes();
  if (!followed) {
    if (follower_->sink_has_gone()) {
      // As for a program of this host whose reader has gone.
      co_await signal(SIGPIPE);
      co_return finish(kOfSignal + SIGPIPE);
    }
    context_.err << "cordon: " << followed.error().text() << "; " << where() << '\n';
    co_return finish(static_cast<int>(Exit::not_started));
  }
  if (const auto& process = followed->process) {
    co_return finish(co_await end_of_process(node_, order_, context_, *process));
  }
  if (const auto& refusal = followed->refusal) {
    if (refusal->status == 404) {
      co_return finish(
          co_await end_of_sandbox(node_, order_, context_, "there is no such sandbox any more"));
    }
    refuse(context_, order_.options, *refusal);
  }
  finish(static_cast<int>(Exit::not_started));
}

void ExecSession::tell_gone_bytes() {
  if (follower_->gone() == 0) return;
  context_.err << fmt::format(
      "cordon: {} bytes of output are missing: another reader acknowledged them\n",
      follower_->gone());
}

asio::awaitable<bool> ExecSession::send_input(std::string bytes, bool last) {
  const auto until = std::chrono::steady_clock::now() + order_.patience;
  for (;;) {
    Sent sent = Sent::no;
    NodeRequest request{
        .method = "POST", .path = path_ + (last ? "/input?end=true" : "/input"), .body = bytes};
    const auto answer = co_await ask(node_, std::move(request), &sent);
    if (answer && answer->is_good()) co_return true;
    if (answer) {
      // A process that has ended, or wants no more, has nothing to complain about.
      if (answer->status == 401 || answer->status == 403) context_.err << words_of_refusal(*answer);
      co_return false;
    }
    // That nothing follows may be said twice; bytes may not.
    if (sent == Sent::perhaps && !bytes.empty()) {
      context_.err << fmt::format(
          "cordon: the node went away while it took input: whether the last {} bytes arrived is "
          "not known, so nothing more is sent; {}\n",
          bytes.size(), where());
      finish(static_cast<int>(Exit::not_started));
      co_return false;
    }
    if (std::chrono::steady_clock::now() >= until) co_return false;
    co_await pause();
  }
}

asio::awaitable<void> ExecSession::pump_input() {
  if (!order_.interactive) {
    // Nothing to read for a new one; whoever comes later ends no input of somebody else.
    if (!order_.process) co_await send_input({}, true);
    co_return;
  }
  std::string buffer(std::size_t{64} << 10U, '\0');
  for (bool wants_more = true; wants_more;) {
    if (!co_await input_.ready()) co_return;
    const auto count = os::read_when_ready(input_.number(), buffer);
    const bool last = !count || *count == 0;
    const bool taken = co_await send_input(last ? std::string{} : buffer.substr(0, *count), last);
    wants_more = taken && !last;
  }
}

asio::awaitable<void> ExecSession::signal(int number) {
  NodeRequest request{.method = "POST",
                      .path = path_ + "/signal",
                      .body = fmt::format(R"({{"signal":{},"group":true}})", number)};
  const auto answer = co_await ask(node_, std::move(request));
  if (answer && !answer->is_good() && answer->status != 404)
    context_.err << words_of_refusal(*answer);
}

asio::awaitable<void> ExecSession::forward_signals() {
  // The first is the program's to answer, the second ends it, the third leaves it alone.
  for (int seen = 0;;) {
    const auto [error, number] = co_await signals_.async_wait(async::kQuiet);
    if (error) co_return;
    const bool asks_to_end = number != SIGUSR1 && number != SIGUSR2;
    if (asks_to_end) ++seen;
    if (asks_to_end && (follower_->is_lost() || seen > 2)) {
      context_.err << "cordon: the process goes on; " << where() << '\n';
      co_return finish(kOfSignal + number);
    }
    co_await signal(asks_to_end && seen == 2 ? SIGKILL : number);
  }
}

asio::awaitable<int> ExecSession::run_in(async::Scope& scope, ExecSession*& self) {
  self->path_ = "/v1/sandboxes/" + self->order_.sandbox + "/processes";
  if (co_await self->start()) {
    const OutputPlace from = self->order_.process ? OutputPlace{} : OutputPlace{0, 0};
    self->follower_ = std::make_unique<OutputFollower>(
        self->node_, self->path_, from,
        FollowRules{.acknowledges = true, .patience = self->order_.patience}, self->sink_,
        self->context_.err);
    scope.spawn(self->follow());
    scope.spawn(self->pump_input());
    scope.spawn(self->forward_signals());
    while (!self->code_) co_await self->done_.async_wait(async::kQuiet);
    scope.cancel();
  }
  co_return self->code_.value_or(static_cast<int>(Exit::internal));
}

asio::awaitable<int> ExecSession::run() { return async::in_scope(run_in, this); }

}  // namespace cordon::cli
