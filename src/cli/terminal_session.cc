// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_session.h"

#include <csignal>
#include <ostream>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "async/block_on.h"
#include "async/waiting.h"
#include "cli/exec_words.h"
#include "cli/node_away.h"
#include "cli/node_words.h"
#include "cli/output_lines.h"
#include "cli/process_ends.h"
#include "terminal/text_filter.h"
#include "wire/attach_message.h"

namespace cordon::cli {
namespace {

using Steady = std::chrono::steady_clock;

constexpr char kInterrupt = '\x03';  // what Ctrl-C is at a raw terminal

}  // namespace

void run_at_terminal(const Node& node, const ExecOrder& order, Context& context) {
  asio::io_context loop{1};
  auto screen = RelayedScreen::open(loop.get_executor(), order.raw);
  if (!screen) {
    fail(context, screen.error());
    context.exit = Exit::not_started;
    return;
  }
  TerminalSession session{loop.get_executor(), node, order, context, *screen};
  context.exit = static_cast<Exit>(async::block_on(loop, session.run()));
}

TerminalSession::TerminalSession(const asio::any_io_executor& executor, const Node& node,
                                 const ExecOrder& order, Context& context, RelayedScreen& screen)
    : node_{node},
      order_{order},
      context_{context},
      screen_{screen},
      changes_{executor, SIGWINCH, SIGCONT},
      ends_{executor},
      ended_{executor, asio::steady_timer::time_point::max()} {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ends_.add(number);
}

void TerminalSession::finish(int code) {
  if (!code_) code_ = code;
  ended_.cancel();
}

void TerminalSession::tell(std::string_view words) {
  context_.err << "cordon: " << words << (screen_.is_raw() ? "\r\n" : "\n") << std::flush;
}

std::string TerminalSession::path() const {
  std::string path =
      fmt::format("/v1/sandboxes/{}/processes/{}/attach?frames=binary&acknowledge=client",
                  order_.sandbox, number_);
  if (const auto& at = screen_.at()) path += fmt::format("&stdout={}", *at);
  return path;
}

async::Task<void> TerminalSession::acknowledge(NodeSocket& socket) {
  screen_.acknowledged();
  const std::string message =
      wire::to_json(wire::AcknowledgeMessage{.out = screen_.at().value_or(0)});
  co_return co_await socket->send(http::Opcode::text, message);
}

async::Task<void> TerminalSession::take_event(const std::string& text, NodeSocket& socket) {
  boost::system::error_code error;
  const auto event = boost::json::parse(text, error);
  if (error || !event.is_object()) co_return Error{Errc::invalid, "the node sent no JSON"};
  const std::string kind = text_at(event, "event");
  if (kind == "error") tell(terminal::printable(text_at(event, "detail")));
  if (kind != "exit" && kind != "failed") co_return Status{};
  const auto* const process = event.as_object().if_contains("process");
  end_ = process == nullptr ? boost::json::value{} : *process;
  screen_.end_at(number_at(*end_, "stdout_bytes").value_or(0));
  // The connection ends now: whoever comes later is told the same.
  if (screen_.unacknowledged() > 0) static_cast<void>(co_await acknowledge(socket));
  co_return Status{};
}

async::Task<void> TerminalSession::hear(std::shared_ptr<NodeSocket> socket) {
  for (;;) {
    CO_TRY(const auto message, co_await (*socket)->receive());
    if (!message) co_return Status{};
    if (message->kind == http::Opcode::binary) {
      CO_TRY_DO(co_await screen_.show(message->data));
      if (screen_.unacknowledged() < kAcknowledgedAtOnce) continue;
      CO_TRY_DO(co_await acknowledge(*socket));
    } else {
      CO_TRY_DO(co_await take_event(message->data, *socket));
    }
  }
}

async::Task<void> TerminalSession::outlast() {
  if (!lost_since_) {
    lost_since_ = Steady::now();
    if (co_await answers(node_)) co_return Status{};
  }
  if (!std::exchange(has_told_loss_, true)) {
    tell(fmt::format("the node has gone; waiting for it for {} s, Ctrl-C leaves",
                     order_.patience.count()));
  }
  while (Steady::now() - *lost_since_ < order_.patience) {
    co_await pause();
    if (co_await answers(node_)) co_return Status{};
  }
  co_return Error{Errc::unavailable,
                  fmt::format("the node has been away for {} s; {}", order_.patience.count(),
                              where_it_goes_on(order_, number_))};
}

asio::awaitable<void> TerminalSession::follow(async::Scope& scope) {
  for (;;) {
    NodeAnswer refusal;
    auto opened = co_await NodeSocket::open(scope, node_, path(), refusal);
    if (opened) {
      lost_since_.reset();
      if (std::exchange(has_told_loss_, false)) tell("the node is back");
      socket_ = *opened;
      static_cast<void>(co_await say_size());
      const auto heard = co_await hear(*opened);
      socket_.reset();
      if (end_) co_return co_await conclude();
      if (!heard && heard.error().code() == Errc::invalid) {
        tell(heard.error().text());
        co_return leave_process(static_cast<int>(Exit::not_started));
      }
    } else if (refusal.status != 0 && refusal.status != kUnavailable) {
      refusal_ = std::move(refusal);
      co_return co_await conclude();
    }
    if (const auto waited = co_await outlast(); !waited) {
      tell(waited.error().text());
      co_return finish(static_cast<int>(Exit::not_started));
    }
  }
}

// All that is told is told at a terminal that is as it was.
asio::awaitable<void> TerminalSession::conclude() {
  screen_.leave();
  if (screen_.gone() > 0) {
    tell(fmt::format("{} bytes of output are missing: another reader acknowledged them",
                     screen_.gone()));
  }
  if (end_) co_return finish(co_await end_of_process(node_, order_, context_, *end_));
  if (refusal_ && refusal_->status == 404) {
    co_return finish(
        co_await end_of_sandbox(node_, order_, context_, "there is no such sandbox any more"));
  }
  if (refusal_) refuse(context_, order_.options, *refusal_);
  finish(static_cast<int>(refusal_ ? start_exit_of_status(refusal_->status) : Exit::not_started));
}

void TerminalSession::leave_process(int code) {
  if (code_) return;  // it is over already, and whoever was cancelled comes here
  screen_.leave();
  tell("the process goes on; " + where_it_goes_on(order_, number_));
  finish(code);
}

asio::awaitable<void> TerminalSession::pump_input() {
  for (;;) {
    const auto keys = co_await screen_.keys();
    if (!keys) co_return leave_process(kOfSignal + SIGHUP);
    if (const auto socket = socket_) {
      // Where it fails the connection has ended, which is noticed elsewhere. Whether these keys
      // arrived is seen at the screen.
      static_cast<void>(co_await (*socket)->send(http::Opcode::binary, *keys));
    } else if (keys->contains(kInterrupt)) {
      co_return leave_process(kOfSignal + SIGINT);
    }
  }
}

async::Task<void> TerminalSession::say_size() {
  const auto socket = socket_;
  if (!socket) co_return Status{};
  const std::string message = wire::to_json(wire::ResizeMessage{screen_.size()});
  co_return co_await (*socket)->send(http::Opcode::text, message);
}

asio::awaitable<void> TerminalSession::watch_size() {
  for (;;) {
    const auto [error, number] = co_await changes_.async_wait(async::kQuiet);
    if (error) co_return;
    if (number == SIGCONT) static_cast<void>(screen_.resume());
    static_cast<void>(co_await say_size());
  }
}

// Who closes our terminal, or asks twice, leaves; the process goes on.
asio::awaitable<void> TerminalSession::watch_signals() {
  for (int seen = 1;; ++seen) {
    const auto [error, number] = co_await ends_.async_wait(async::kQuiet);
    if (error) co_return;
    const auto socket = socket_;
    if (number == SIGHUP || seen > 1 || !socket) co_return leave_process(kOfSignal + number);
    const std::string message = wire::to_json(
        wire::SignalRequest{.number = static_cast<std::uint8_t>(number), .to_group = true});
    static_cast<void>(co_await (*socket)->send(http::Opcode::text, message));
  }
}

asio::awaitable<int> TerminalSession::run_in(async::Scope& scope, TerminalSession*& self) {
  int code = 0;
  auto number = co_await begin_process(self->node_, self->order_, self->context_, code);
  if (!number) co_return code;
  self->number_ = *std::move(number);
  if (!self->order_.process) self->screen_.begin_at(0);
  if (const auto entered = self->screen_.enter(); !entered) {
    self->tell(entered.error().text());
    self->leave_process(static_cast<int>(Exit::not_started));
    co_return static_cast<int>(Exit::not_started);
  }
  scope.spawn(self->follow(scope));
  scope.spawn(self->pump_input());
  scope.spawn(self->watch_size());
  scope.spawn(self->watch_signals());
  while (!self->code_) co_await self->ended_.async_wait(async::kQuiet);
  self->screen_.leave();
  scope.cancel();
  co_return self->code_.value_or(static_cast<int>(Exit::internal));
}

asio::awaitable<int> TerminalSession::run() { return async::in_scope(run_in, this); }

}  // namespace cordon::cli
