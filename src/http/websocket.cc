// SPDX-License-Identifier: Apache-2.0
#include "http/websocket.h"

#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http/upgrade.h"
#include "http/websocket_key.h"

namespace cordon::http {
namespace {

using Clock = std::chrono::steady_clock;

// A task that is cancelled while it writes leaves by an exception.
class Turn {
 public:
  Turn(bool& is_taken, asio::steady_timer& free) : is_taken_{is_taken}, free_{free} {
    is_taken_ = true;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    is_taken_ = false;
    free_.cancel();
  }

 private:
  bool& is_taken_;
  asio::steady_timer& free_;
};

}  // namespace

async::Task<std::unique_ptr<WebSocket>> WebSocket::accept(Exchange& exchange, std::string protocol,
                                                          WebSocketRules rules) {
  if (exchange.is_answered()) co_return Error{Errc::internal, "a second answer"};
  CO_TRY_DO(check_handshake(exchange.head()));
  const auto key = only(exchange.head().fields, "sec-websocket-key").value_or("");
  Fields fields{{.name = "Sec-WebSocket-Accept", .value = accepted_key(key)}};
  if (!protocol.empty())
    fields.push_back({.name = "Sec-WebSocket-Protocol", .value = std::move(protocol)});
  CO_TRY(
      const std::string head,
      exchange.head_bytes(101, std::move(fields), {.kind = Framing::Kind::tunnel}, After::upgrade));
  exchange.state_ = Exchange::State::upgraded;
  CO_TRY_DO(co_await exchange.send(head));
  co_return std::make_unique<WebSocket>(co_await asio::this_coro::executor, exchange.stream_,
                                        exchange.inbox_, rules, Masks{});
}

WebSocket::WebSocket(const asio::any_io_executor& executor, Stream& stream, SharedInbox& inbox,
                     const WebSocketRules& rules, Masks masks)
    : stream_{stream},
      inbox_{inbox},
      rules_{rules},
      masks_{std::move(masks)},
      reader_{masks_ ? Role::client : Role::server, rules.message},
      free_{executor, asio::steady_timer::time_point::max()} {}

async::Task<void> WebSocket::put(Opcode kind, std::string_view data) {
  std::string frame;
  append_frame(frame, kind, data, masks_ ? std::optional{masks_()} : std::nullopt);
  while (is_writing_) {
    boost::system::error_code ignored;
    co_await free_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  const Turn turn{is_writing_, free_};
  stream_.limit(rules_.write);
  auto sent = co_await stream_.write(frame);
  stream_.lift_limit();
  co_return sent;
}

async::Task<void> WebSocket::send(Opcode kind, std::string_view data) {
  if (has_said_close_) co_return Error{Errc::unavailable, "the WebSocket is closed"};
  co_return co_await put(kind, data);
}

async::Task<void> WebSocket::say_close(CloseCode code, std::string_view reason) {
  if (std::exchange(has_said_close_, true)) co_return Status{};
  const std::string payload = close_payload(code, reason);
  co_return co_await put(Opcode::close, payload);
}

async::Task<void> WebSocket::farewell(CloseCode code, std::string reason) {
  if (has_said_close_) co_return Status{};
  auto said = co_await say_close(code, reason);
  // Whoever receives waits no longer than for the answer.
  if (!is_over_) stream_.limit(rules_.close);
  co_return said;
}

async::Task<bool> WebSocket::take(const Message& message) {
  switch (message.kind) {
    case Opcode::ping:
      if (!has_said_close_) {
        CO_TRY_DO(co_await put(Opcode::pong, message.data));
      }
      co_return false;
    case Opcode::close:
      closed_by_ = message.code;
      is_over_ = true;
      // What it said is said back; where it said nothing, that all is well.
      CO_TRY_DO(co_await say_close(
          message.code == 1005 ? CloseCode::normal : static_cast<CloseCode>(message.code), {}));
      co_return false;
    case Opcode::text:
    case Opcode::binary:
      co_return true;
    default:
      co_return false;
  }
}

async::Task<std::optional<Message>> WebSocket::receive() {
  bool is_asked = false;
  Ticks deadline = Clock::now() + rules_.ping;
  while (!is_over_) {
    auto bytes = co_await inbox_.next(deadline);
    if (!bytes && bytes.error().code() == Errc::timeout && stream_.is_open() && !is_asked &&
        !has_said_close_) {
      is_asked = true;
      CO_TRY_DO(co_await put(Opcode::ping, {}));
      deadline = Clock::now() + rules_.pong;
      continue;
    }
    if (!bytes) {
      is_over_ = true;
      co_return std::move(bytes).error();
    }
    if (bytes->empty()) {
      is_over_ = true;
      co_return Error{Errc::unavailable, "the other side left without a farewell"};
    }
    auto step = reader_.next(*bytes);
    inbox_.keep(step ? bytes->substr(step->consumed) : std::string_view{});
    if (!step) {
      is_over_ = true;
      static_cast<void>(co_await say_close(step.error().code, step.error().why));
      co_return Error{Errc::invalid, "WebSocket: " + std::string{step.error().why}};
    }
    is_asked = false;
    if (auto& message = step->message) {
      CO_TRY(const bool is_wanted, co_await take(*message));
      if (is_wanted) co_return std::move(message);
    }
    if (!inbox_.has_bytes()) deadline = Clock::now() + rules_.ping;
  }
  co_return std::optional<Message>{};
}

async::Task<void> WebSocket::close(CloseCode code, std::string reason) {
  if (has_said_close_) co_return Status{};
  CO_TRY_DO(co_await say_close(code, reason));
  const Ticks deadline = Clock::now() + rules_.close;
  while (!is_over_) {
    CO_TRY(const std::string_view bytes, co_await inbox_.next(deadline));
    if (bytes.empty()) break;
    auto step = reader_.next(bytes);
    inbox_.keep(step ? bytes.substr(step->consumed) : std::string_view{});
    if (!step) break;
    if (const auto& message = step->message) {
      CO_TRY_DO(co_await take(*message));
    }
  }
  is_over_ = true;
  co_return Status{};
}

}  // namespace cordon::http
