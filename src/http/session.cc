// SPDX-License-Identifier: Apache-2.0
#include "http/session.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "http/refusal.h"
#include "http/server_answer.h"
#include "http/target.h"

namespace cordon::http {
namespace {

using Clock = std::chrono::steady_clock;

// Of what a client still sends when it was told that the connection ends.
constexpr std::size_t kMostLingered = std::size_t{1} << 20U;
constexpr std::size_t kRequestRoom = std::size_t{16} << 10U;  // a record of TLS

// A tenth late is in time.
std::chrono::nanoseconds pace_of(const ServerTimes& times) {
  const auto shortest =
      std::min({times.handshake, times.head, times.idle, times.body, times.write, times.linger});
  return std::min<std::chrono::nanoseconds>(shortest / 10, std::chrono::milliseconds{100});
}

// "Sun, 06 Nov 1994 08:49:37 GMT", in no locale.
std::string date_text(std::time_t now) {
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto time = std::chrono::sys_seconds{std::chrono::seconds{now}};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays.at(std::chrono::weekday{day}.c_encoding()),
      static_cast<unsigned>(date.day()), kMonths.at(static_cast<unsigned>(date.month()) - 1),
      static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count());
}

}  // namespace

SessionHouse::SessionHouse(const asio::any_io_executor& executor, const ServerLimits& limits_in,
                           const ServerTimes& times_in, Handler handler_in)
    : limits{limits_in},
      times{times_in},
      handler{std::move(handler_in)},
      watchdog{executor, pace_of(times_in)},
      room(kRequestRoom),
      seen{times, limits, is_draining, [this] { return date(); }} {}

std::string_view SessionHouse::date() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (std::exchange(date_at_, now) != now) date_ = date_text(now);
  return date_;
}

Session::Session(SessionHouse& house, Stream::Socket socket, Peer peer)
    : house_{house},
      peer_{std::move(peer)},
      stream_{std::move(socket), {}, house.watchdog},
      inbox_{stream_, house.room},
      place_{house.idle.insert(house.idle.end(), this)} {
  stream_.set_patience(kUnlimited);
  ++house_.counts.connections;
  ++house_.counts.accepted;
}

Session::~Session() {
  (busy_since_ ? house_.busy : house_.idle).erase(place_);
  --house_.counts.connections;
  house_.on_end();
}

void Session::become_idle() {
  if (!busy_since_) return;
  busy_since_.reset();
  house_.idle.splice(house_.idle.end(), house_.busy, place_);
}

void Session::become_busy() {
  if (busy_since_) return;
  busy_since_ = Clock::now();
  house_.busy.splice(house_.busy.end(), house_.idle, place_);
  house_.on_busy();
}

void Session::retire() noexcept {
  if (std::exchange(is_retired_, true)) return;
  stream_.shut_receive();
}

asio::awaitable<void> Session::run(std::optional<OwnedSsl> ssl) {
  if (ssl) {
    stream_.limit(house_.times.handshake);
    const auto shaken = co_await stream_.handshake(*std::move(ssl));
    stream_.lift_limit();
    if (!shaken) {
      ++house_.counts.failed_tls;
      co_return;
    }
    peer_.certificate = proven_subject(stream_.ssl());
  }
  for (bool is_first = true; co_await serve_one(is_first);) is_first = false;
  stream_.close();
}

asio::awaitable<bool> Session::serve_one(bool is_first) {
  auto head = co_await read_head(is_first);
  is_reading_head_ = false;
  if (!head) co_return false;
  ++house_.counts.requests;
  has_spoken_ = true;
  co_return co_await handle(in_origin_form(*std::move(head)));
}

asio::awaitable<std::optional<RequestHead>> Session::read_head(bool is_first) {
  become_idle();
  // Who has just come was let in by us, and has nobody else to say it to.
  if (house_.is_draining && !is_first) retire();
  reader_.emplace(RequestRules{.limits = house_.limits.head});
  bool is_begun = false;
  Ticks deadline = Clock::now() + (is_first ? house_.times.head : house_.times.idle);
  for (;;) {
    const auto bytes = co_await inbox_.next(deadline);
    if (!bytes && is_begun && bytes.error().code() == Errc::timeout) {
      ++house_.counts.late_heads;
      co_await refuse(408, "the head did not come in time");
    }
    if (!bytes || bytes->empty()) co_return std::nullopt;
    become_busy();
    auto fed = reader_->feed(*bytes);
    inbox_.keep(fed ? bytes->substr(fed->consumed) : std::string_view{});
    if (!fed) {
      ++house_.counts.refused_heads;
      co_await refuse(status_for(fed.error()), fed.error().text());
      co_return std::nullopt;
    }
    if (fed->done) co_return reader_->take();
    is_reading_head_ = true;
    if (!std::exchange(is_begun, true)) deadline = Clock::now() + house_.times.head;
  }
}

asio::awaitable<bool> Session::handle(RequestHead head) {
  Exchange& exchange = exchange_.emplace(std::move(head), peer_, stream_, inbox_, house_.seen);
  co_await call_handler(exchange);
  if (!exchange.is_answered()) co_await answer_fault(exchange);
  if (exchange.state_ != Exchange::State::answered) {
    // What was begun and is not whole must not look so.
    if (exchange.state_ == Exchange::State::upgraded) {
      co_await end(true);
    } else {
      stream_.abort();
    }
    co_return false;
  }
  const bool keeps = exchange.keeps_ && co_await exchange.body_.drop_rest();
  if (!keeps) co_await end(!exchange.body_.is_done());
  exchange_.reset();
  co_return keeps;
}

asio::awaitable<void> Session::call_handler(Exchange& exchange) {
  std::string failure;
  try {
    auto done = co_await house_.handler(exchange);
    if (!done) failure = std::move(done).error().text();
  } catch (const std::exception& thrown) {
    if (async::is_cancellation(std::current_exception())) throw;
    failure = thrown.what();
  }
  const bool is_ours = exchange.state_ == Exchange::State::unanswered ||
                       exchange.state_ == Exchange::State::streaming;
  if (!is_ours) co_return;
  if (exchange.body_.fault() != 0) {
    ++house_.counts.refused_bodies;
    co_return;
  }
  ++house_.counts.failed_handlers;
  log(LogLevel::error, "http", "a request was not answered by its handler",
      {{"method", exchange.head().method}, {"failure", failure}});
}

asio::awaitable<void> Session::answer_fault(Exchange& exchange) {
  const int fault = exchange.body_.fault();
  std::string_view detail = "the request could not be served";
  if (fault == 413) detail = "the body is larger than is taken here";
  if (fault == 408) detail = "the body did not come in time";
  if (fault == 400) detail = "the body is malformed, or broke off";
  const int status = fault != 0 ? fault : 500;
  static_cast<void>(
      co_await exchange.answer(status, problem_fields(), problem_body(status, detail)));
}

asio::awaitable<void> Session::refuse(int status, std::string why) {
  const std::string answer = problem_answer(status, why);
  stream_.limit(house_.times.write);
  if (co_await stream_.write(answer)) co_await end(true);
}

asio::awaitable<void> Session::end(bool is_unread) {
  stream_.limit(house_.times.linger);
  static_cast<void>(co_await stream_.shut());
  // A socket that is closed with bytes unread resets, and the client loses what it was told.
  std::array<char, 1024> rest{};
  for (std::size_t read = 0; is_unread && read < kMostLingered;) {
    const auto got = co_await stream_.read_some(rest);
    if (!got || *got == 0) break;
    read += *got;
  }
  stream_.close();
}

}  // namespace cordon::http
