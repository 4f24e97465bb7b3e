// SPDX-License-Identifier: Apache-2.0
#include "http/listener.h"

#include <cerrno>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/borrowed_fd.h"

namespace cordon::http {
namespace {

using Clock = std::chrono::steady_clock;

// At a time, so that those who were accepted are served in between.
constexpr int kBatch = 64;
constexpr std::chrono::milliseconds kPause{20};
constexpr std::chrono::seconds kPatience{1};

bool is_exhausted(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

Listener::Listener(asio::posix::stream_descriptor socket, os::Fd reserve, bool is_tcp, bool is_tls)
    : socket_{std::move(socket)},
      reserve_{std::move(reserve)},
      pause_{socket_.get_executor()},
      is_tcp_{is_tcp},
      is_tls_{is_tls} {}

Result<Listener> Listener::create(const asio::any_io_executor& executor, os::Fd socket,
                                  bool is_tls) {
  TRY(const bool is_tcp, os::is_tcp_listener(socket));
  if (is_tcp) {
    TRY_DO(os::set_no_delay(socket));
  }
  TRY_DO(os::set_nonblocking(socket, true));
  TRY(os::Fd reserve, os::duplicate(socket));
  asio::posix::stream_descriptor owner{executor, socket.release()};
  return Listener{std::move(owner), std::move(reserve), is_tcp, is_tls};
}

void Listener::stop() {
  is_stopped_ = true;
  boost::system::error_code ignored;
  socket_.cancel(ignored);
  pause_.cancel();
}

asio::awaitable<void> Listener::wait() {
  boost::system::error_code ignored;  // a wait that was stopped looks whether it was
  co_await socket_.async_wait(asio::posix::descriptor_base::wait_read,
                              asio::redirect_error(asio::use_awaitable, ignored));
}

// Whether it stopped for want of descriptors.
bool Listener::accept_some(const Hearers& hearers) {
  const async::BorrowedFd listener{socket_};
  for (int taken = 0; taken < kBatch && !is_stopped_; ++taken) {
    auto arrival = os::accept_now(*listener);
    // Nothing is there, or one that broke off.
    if (!arrival) return is_exhausted(arrival.error().cause().value());
    starved_since_.reset();
    hearers.arrived(*std::move(arrival));
  }
  return false;
}

void Listener::relieve(const Hearers& hearers) {
  const Ticks now = Clock::now();
  if (!starved_since_) hearers.starved();
  starved_since_ = starved_since_.value_or(now);
  const async::BorrowedFd listener{socket_};
  if (reserve_ && now - *starved_since_ > kPatience) {
    reserve_ = os::Fd{};
    if (auto last = os::accept_now(*listener)) hearers.turned_away(*std::move(last));
  }
  if (reserve_) return;
  if (auto again = os::duplicate(*listener)) reserve_ = *std::move(again);
}

asio::awaitable<void> Listener::run(Hearers hearers) {
  while (!is_stopped_) {
    co_await wait();
    if (is_stopped_ || !accept_some(hearers)) continue;
    relieve(hearers);
    pause_.expires_after(kPause);
    boost::system::error_code ignored;
    co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

}  // namespace cordon::http
