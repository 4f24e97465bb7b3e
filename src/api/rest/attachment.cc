// SPDX-License-Identifier: Apache-2.0
#include "api/rest/attachment.h"

#include "api/rest/shown.h"
#include "async/waiting.h"
#include "wire/answers.h"

namespace cordon::api {
namespace {

constexpr std::size_t kMessagePiece = std::size_t{64} << 10U;
// Keys that are typed one by one are not confirmed one by one.
constexpr std::uint64_t kToldAtOnce = wire::kInputAhead / 4;

std::string_view without_newline(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

}  // namespace

Attachment::Attachment(const asio::any_io_executor& executor, http::WebSocket& socket,
                       node::ResidentProcess& process, AttachRules rules)
    : socket_{socket},
      process_{process},
      rules_{std::move(rules)},
      at_{rules_.from},
      queued_{executor, async::kNever},
      room_{executor, async::kNever} {}

async::Task<void> Attachment::run() { return async::in_scope(run_in, this); }

async::Task<void> Attachment::run_in(async::Scope& scope, Attachment*& self) {
  scope.spawn(self->pump_output());
  if (self->rules_.takes_input) scope.spawn(self->pump_input());
  auto heard = co_await self->hear();
  scope.cancel();
  co_return heard;
}

async::Task<void> Attachment::hear() {
  for (;;) {
    CO_TRY(auto message, co_await socket_.receive());
    if (!message) co_return Status{};
    const bool is_over = socket_.has_said_close();
    const auto taken = co_await take(*std::move(message));
    // Behind our own farewell the last bytes may still be acknowledged, and all else is late.
    if (is_over || taken) continue;
    // It hears why, or has gone.
    static_cast<void>(co_await socket_.close(http::CloseCode::refused, taken.error().text()));
    co_return taken.error();
  }
}

async::Task<void> Attachment::take(http::Message message) {
  if (message.kind == http::Opcode::binary) {
    co_return co_await take(wire::InputMessage{std::move(message.data)});
  }
  CO_TRY(wire::AttachMessage read, wire::read_attach_message(message.data));
  co_return co_await std::visit([this](auto& one) { return take(std::move(one)); }, read);
}

async::Task<void> Attachment::take(const wire::AcknowledgeMessage& message) {
  co_return process_.acknowledge({message.out, message.err});
}

async::Task<void> Attachment::take(wire::InputMessage message) {
  return give(std::move(message.bytes), false);
}

async::Task<void> Attachment::take(const wire::EndMessage&) { return give({}, true); }

async::Task<void> Attachment::take(const wire::ResizeMessage& message) {
  if (!rules_.takes_input) co_return Error{Errc::denied, "this route only reads: use …/attach"};
  if (process_.has_terminal()) {
    process_.resize({message.size.rows, message.size.columns});
    co_return Status{};
  }
  co_return co_await tell({Errc::invalid, "resize: the process has no terminal"});
}

async::Task<void> Attachment::take(const wire::SignalRequest& message) {
  if (!rules_.takes_input) co_return Error{Errc::denied, "this route only reads: use …/attach"};
  const auto may = rules_.may(token::Operation::process_signal);
  if (!may) co_return co_await tell(may.error());
  process_.signal(message.number,
                  message.to_group ? frame::SignalTo::group : frame::SignalTo::process);
  co_return Status{};
}

async::Task<void> Attachment::tell(const Error& error) {
  const std::string event = wire::error_event(error);
  co_return co_await socket_.send(http::Opcode::text, event);
}

// A client that is far ahead of its process is read no further: it waits, as its process does.
async::Task<void> Attachment::give(std::string bytes, bool last) {
  if (!rules_.takes_input) co_return Error{Errc::denied, "this route only reads: use …/attach"};
  waiting_ += bytes.size();
  input_.push_back({std::move(bytes), last});
  queued_.cancel();
  while (waiting_ > wire::kInputAhead && !process_.is_over())
    co_await room_.async_wait(async::kQuiet);
  co_return Status{};
}

asio::awaitable<void> Attachment::pump_input() {
  for (;;) {
    while (input_.empty()) co_await queued_.async_wait(async::kQuiet);
    Input input = std::move(input_.front());
    input_.pop_front();
    const std::size_t size = input.bytes.size();
    const auto written = co_await process_.write(std::move(input.bytes), input.is_last);
    waiting_ -= size;
    room_.cancel();
    taken_ += written ? size : 0;
    // Said once: whoever goes on to send has not read it yet.
    const bool is_news = !written && !process_.exited() && !std::exchange(is_input_refused_, true);
    if (is_news && !co_await tell(written.error())) co_return;
    if (taken_ - told_taken_ < kToldAtOnce) continue;
    told_taken_ = taken_;
    const std::string event = wire::input_event(taken_);
    if (!co_await socket_.send(http::Opcode::text, event)) co_return;
  }
}

asio::awaitable<void> Attachment::pump_output() {
  for (;;) {
    if (!co_await send_what_is_there()) co_return;
    if (process_.is_over()) break;
    co_await process_.news();
  }
  room_.cancel();
  static_cast<void>(co_await send_end());
}

async::Task<void> Attachment::send_what_is_there() {
  while (const auto piece = process_.read(at_, kMessagePiece)) {
    const bool is_error = piece->stream == frame::Stream::err;
    at_[is_error ? 1 : 0] = piece->offset + piece->bytes.size();
    if (rules_.is_binary) {
      const std::string frame = wire::to_bytes({is_error, piece->offset, piece->bytes});
      CO_TRY_DO(co_await socket_.send(http::Opcode::binary, frame));
    } else {
      const std::string line = wire::output_line(is_error, piece->offset, piece->bytes);
      CO_TRY_DO(co_await socket_.send(http::Opcode::text, without_newline(line)));
    }
    if (rules_.acknowledges) CO_TRY_DO(process_.acknowledge(at_));
  }
  co_return Status{};
}

async::Task<void> Attachment::send_end() {
  const std::string line = wire::exit_line(shown(process_));
  CO_TRY_DO(co_await socket_.send(http::Opcode::text, without_newline(line)));
  co_return co_await socket_.farewell(http::CloseCode::normal, "the process has ended");
}

}  // namespace cordon::api
