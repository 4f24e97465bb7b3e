// SPDX-License-Identifier: Apache-2.0
#include "egress/relay.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "async/waiting.h"
#include "base/bytes.h"
#include "egress/tcp.h"
#include "os/socket.h"

namespace cordon::egress {
namespace {

using asio::ip::tcp;

constexpr std::chrono::nanoseconds kLeastPause = std::chrono::milliseconds{1};

// One for all connections of the loop: between reading and the first wait nobody else runs. What
// does not fit into the other socket is kept by its own connection.
constexpr std::size_t kPiece = std::size_t{256} << 10U;
std::span<char> piece() {
  static std::array<char, kPiece> memory;
  return memory;
}

// Of one direction, before its bytes go without a copy.
constexpr std::uint64_t kBulk = std::uint64_t{128} << 10U;

Error spent(const EgressBudget::Allowance& allowance) {
  return Error{Errc::exhausted, allowance.spent ? allowance.spent->why : std::string{}};
}

Ticks now() { return std::chrono::steady_clock::now(); }

// Both directions are driven by plain handlers: coroutines of their own would cost each connection
// more than the passing of its bytes does.
class Relay {
 public:
  Relay(tcp::socket& client, tcp::socket& server, RelayTerms terms)
      : terms_{terms},
        out_{.from = client, .to = server, .direction = Direction::out},
        in_{.from = server, .to = client, .direction = Direction::in},
        idle_{client.get_executor()},
        ended_{client.get_executor(), asio::steady_timer::time_point::max()} {}

  // Before anything else. Not moved afterwards: handlers refer to it.
  void begin(std::string first) {
    last_ = now();
    watch_idle(terms_.idle);
    wait_readable(in_);
    // While we dialled, a client that speaks first has spoken.
    if (first.empty()) return take(out_);
    relayed_.out = first.size();
    out_.rest = std::move(first);
    go_on(out_);
  }

  // A handler will be called, and refers to it.
  bool is_running() const noexcept { return handlers_ > 0; }
  // Until it may not be running any more.
  auto wait() { return ended_.async_wait(async::kQuiet); }

  void stop() {
    reset(out_.from);
    reset(out_.to);
    for (Half* half : {&out_, &in_})
      if (half->pause) half->pause->cancel();
    idle_.cancel();
  }

  // Before: nothing of it runs.
  Relayed finish() {
    if (relayed_.cut) stop();
    return std::move(relayed_);
  }

 private:
  struct Half {
    tcp::socket& from;
    tcp::socket& to;
    Direction direction;
    std::string allowed{};  // that the other socket did not take yet
    std::string rest{};     // that the budget has not let go
    std::chrono::nanoseconds wait{};
    std::optional<asio::steady_timer> pause{};
    bool is_over = false;
  };
  using Step = void (Relay::*)(Half&);

  bool is_over() const noexcept { return out_.is_over && in_.is_over; }

  // What a handler does last, whatever it was called for.
  void leave() {
    if (--handlers_ == 0) ended_.cancel();
  }

  void wait_for(Half& half, tcp::socket& socket, tcp::socket::wait_type what, Step next) {
    ++handlers_;
    socket.async_wait(what, [this, &half, next](const boost::system::error_code& error) {
      if (error) {
        fail(half, Error::from_errno("relay", error.value()));
      } else {
        (this->*next)(half);
      }
      leave();
    });
  }

  void wait_readable(Half& half) {
    wait_for(half, half.from, tcp::socket::wait_read, &Relay::take);
  }

  // What is to be done after bytes were moved.
  enum class Next : std::uint8_t {
    again,    // there may be more
    wait,     // for more
    nothing,  // it has ended, failed, or sends what is left
  };

  // As long as there is more: a busy connection is not sent to the back of the loop each time.
  void take(Half& half) {
    for (int turn = 0; turn < 4; ++turn) {
      const Next next = is_bulk(half) ? move(half) : copy(half);
      if (next == Next::nothing) return;
      if (next == Next::wait) break;
    }
    wait_readable(half);
  }

  std::uint64_t& relayed(const Half& half) {
    return half.direction == Direction::out ? relayed_.out : relayed_.in;
  }

  bool is_bulk(const Half& half) {
    const bool looked_at = terms_.watch != nullptr && !terms_.watch->is_over();
    return terms_.conduit != nullptr && !looked_at && relayed(half) >= kBulk;
  }

  Next copy(Half& half) {
    boost::system::error_code error;
    const std::size_t got =
        half.from.receive(asio::buffer(piece().data(), piece().size()), 0, error);
    if (would_block(error)) return Next::wait;
    if (error == asio::error::eof) return end(half);
    if (error) return fail(half, Error::from_errno("receive", error.value()));
    last_ = now();
    const std::string_view bytes{piece().data(), got};
    if (auto judged = judge(bytes, half.direction); !judged) return fail(half, judged.error());
    auto passed = pass(half, bytes);
    if (!passed) return fail(half, passed.error());
    relayed(half) += got;
    if (!*passed) return send(half);
    return got < piece().size() ? Next::wait : Next::again;
  }

  // The same without looking at the bytes. The conduit is empty before and after.
  Next move(Half& half) {
    os::Conduit& conduit = *terms_.conduit;
    const auto got = conduit.fill(half.from.native_handle(), piece().size());
    if (!got) return os::would_wait(got.error()) ? Next::wait : fail(half, got.error());
    if (*got == 0) return end(half);
    last_ = now();
    const auto allowance = terms_.budget.move(half.direction, *got, last_);
    const std::size_t allowed =
        allowance.spent ? 0
                        : static_cast<std::size_t>(std::min<std::uint64_t>(allowance.bytes, *got));
    const auto went = allowed > 0 ? conduit.drain(half.to.native_handle(), allowed)
                                  : Result<std::size_t>{std::size_t{0}};
    const std::size_t gone = went ? *went : 0;
    if (gone == *got) {
      relayed(half) += *got;
      return *got < piece().size() ? Next::wait : Next::again;
    }
    const std::span<char> left = piece().first(*got - gone);
    if (const Status taken = conduit.take(left); !taken) return fail(half, taken.error());
    if (allowance.spent) return fail(half, spent(allowance));
    if (!went && !os::would_wait(went.error())) return fail(half, went.error());
    relayed(half) += *got;
    half.allowed.assign(left.data(), allowed - gone);
    half.rest.assign(left.data() + (allowed - gone), *got - allowed);
    half.wait = allowance.wait;
    return send(half);
  }

  Status judge(std::string_view bytes, Direction direction) {
    if (terms_.watch == nullptr || terms_.watch->is_over()) return {};
    if (direction == Direction::in) {
      terms_.watch->from_server(as_bytes(bytes));
      return {};
    }
    if (const auto refused = terms_.watch->from_client(as_bytes(bytes))) {
      return Error{Errc::denied, refused->why};
    }
    return {};
  }

  // `bytes` lie in the shared piece: what cannot go now is copied. True: nothing is left.
  Result<bool> pass(Half& half, std::string_view bytes) {
    const auto allowance = terms_.budget.move(half.direction, bytes.size(), last_);
    if (allowance.spent) return spent(allowance);
    TRY(const std::string_view left, write_some(half.to, bytes.substr(0, allowance.bytes)));
    half.allowed = left;
    half.rest = bytes.substr(std::min<std::size_t>(allowance.bytes, bytes.size()));
    half.wait = allowance.wait;
    return half.allowed.empty() && half.rest.empty();
  }

  // What was left, until nothing is.
  Next send(Half& half) {
    for (;;) {
      auto left = write_some(half.to, half.allowed);
      if (!left) return fail(half, left.error());
      half.allowed.erase(0, half.allowed.size() - left->size());
      if (!half.allowed.empty()) {
        wait_for(half, half.to, tcp::socket::wait_write, &Relay::go_on);
        return Next::nothing;
      }
      if (half.rest.empty()) break;
      if (half.wait.count() > 0) return pause(half);
      const auto allowance = terms_.budget.move(half.direction, half.rest.size(), now());
      if (allowance.spent) return fail(half, spent(allowance));
      half.allowed = half.rest.substr(0, allowance.bytes);
      half.rest.erase(0, half.allowed.size());
      half.wait = half.allowed.empty() ? std::max(allowance.wait, kLeastPause) : allowance.wait;
    }
    half.allowed = std::string{};  // an idle connection keeps no memory
    half.rest = std::string{};
    wait_readable(half);
    return Next::nothing;
  }

  void go_on(Half& half) { static_cast<void>(send(half)); }

  Next pause(Half& half) {
    half.pause.emplace(half.to.get_executor(),
                       std::chrono::ceil<std::chrono::milliseconds>(half.wait));
    half.wait = {};
    ++handlers_;
    half.pause->async_wait([this, &half](const boost::system::error_code& error) {
      static_cast<void>(error ? fail(half, Error::from_errno("wait", error.value())) : send(half));
      leave();
    });
    return Next::nothing;
  }

  Next end(Half& half) {
    half.is_over = true;
    // Behind the second both are closed at once.
    if (is_over()) {
      idle_.cancel();
      return Next::nothing;
    }
    boost::system::error_code ignored;
    half.to.shutdown(tcp::socket::shutdown_send, ignored);
    return Next::nothing;
  }

  // Half a connection is of no use to the other half.
  Next fail(Half& half, const Error& error) {
    half.is_over = true;
    const bool refused = error.code() == Errc::exhausted || error.code() == Errc::denied;
    if (refused && !relayed_.cut) relayed_.cut = error;
    stop();
    return Next::nothing;
  }

  void watch_idle(std::chrono::steady_clock::duration time) {
    ++handlers_;
    idle_.expires_after(time);
    idle_.async_wait([this](const boost::system::error_code& error) {
      if (!error && !is_over()) look_idle();
      leave();
    });
  }

  void look_idle() {
    const auto quiet = now() - last_;
    if (quiet < terms_.idle) return watch_idle(terms_.idle - quiet);
    relayed_.cut = Error{Errc::timeout, "nothing was sent either way for " +
                                            std::to_string(terms_.idle.count()) + " seconds"};
    stop();
  }

  RelayTerms terms_;
  Half out_;
  Half in_;
  Relayed relayed_;
  Ticks last_{};
  int handlers_ = 0;  // that will be called, and refer to this
  asio::steady_timer idle_;
  asio::steady_timer ended_;  // never fires
};

}  // namespace

asio::awaitable<Relayed> relay(tcp::socket& client, tcp::socket& server, std::string first,
                               RelayTerms terms) {
  boost::system::error_code ignored;
  if (!client.non_blocking()) client.non_blocking(true, ignored);
  if (!server.non_blocking()) server.non_blocking(true, ignored);
  Relay both{client, server, terms};
  // It is waited for however this ends: until no handler refers to it any more.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  both.begin(std::move(first));
  while (both.is_running()) {
    co_await both.wait();
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) both.stop();
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
  co_return both.finish();
}

}  // namespace cordon::egress
