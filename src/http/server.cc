// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <algorithm>
#include <poll.h>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/borrowed_fd.h"
#include "base/bytes.h"
#include "base/log.h"
#include "http/server_answer.h"

namespace cordon::http {
namespace {

// How long a server that ends waits for the first request of a connection that it has accepted.
constexpr std::chrono::milliseconds kFirstWord{250};

using Clock = std::chrono::steady_clock;

// Whom a bound counts together: a network of 64 bits is one customer's.
std::string counted_as(const os::IpAddress& address) {
  const auto bytes = address.bytes().first(address.is_v6() ? 8 : 4);
  return {bytes.begin(), bytes.end()};
}

asio::awaitable<void> quietly_wait(asio::steady_timer& timer) {
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace

Server::Server(const asio::any_io_executor& executor, ServerSetup setup)
    : executor_{executor},
      house_{executor, setup.limits, setup.times, std::move(setup.handler)},
      tls_{std::move(setup.tls)},
      ended_{executor, asio::steady_timer::time_point::max()},
      look_{executor} {
  house_.seen.also = std::move(setup.also);
  house_.on_busy = [this] {
    if (!is_looking_) look_.cancel();
  };
  house_.on_end = [this] {
    if (house_.is_draining) ended_.cancel();
  };
}

Result<std::unique_ptr<Server>> Server::create(const asio::any_io_executor& executor,
                                               ServerSetup setup) {
  std::vector<std::unique_ptr<Listener>> listeners;
  for (auto& [socket, is_tls] : setup.listeners) {
    if (is_tls && !setup.tls) return Error{Errc::invalid, "TLS without a certificate"};
    TRY(Listener listener, Listener::create(executor, std::move(socket), is_tls));
    listeners.push_back(std::make_unique<Listener>(std::move(listener)));
  }
  std::unique_ptr<Server> server{new Server{executor, std::move(setup)}};
  server->listeners_ = std::move(listeners);
  return server;
}

asio::awaitable<void> Server::run() {
  co_await async::in_scope([](async::Scope& scope, Server*& it) { return it->serve(scope); }, this);
  scope_ = nullptr;
}

asio::awaitable<bool> Server::serve(async::Scope& scope) {
  scope_ = &scope;
  scope.spawn(house_.watchdog.run());
  scope.spawn(look_for_gone());
  for (const auto& listener : listeners_) {
    Listener* const it = listener.get();
    scope.spawn(it->run(
        {.arrived = [this, it](os::Arrival arrival) { arrived(*it, std::move(arrival)); },
         .turned_away = [this, it](os::Arrival arrival) { turned_away(*it, std::move(arrival)); },
         .starved = [this] { starved(); }}));
  }
  while (!is_over_) co_await quietly_wait(ended_);
  scope.cancel();
  co_return true;
}

asio::awaitable<bool> Server::drain(std::chrono::nanoseconds limit) {
  house_.is_draining = true;
  for (const auto& listener : listeners_) listener->stop();
  for (Session* const session : house_.idle) {
    if (session->has_spoken()) session->retire();
  }
  // A WebSocket has no end that could be waited for: its client comes back, to whoever is next.
  for (Session* const session : house_.busy) {
    if (session->is_upgraded()) session->retire();
  }
  const Ticks deadline = Clock::now() + limit;
  Ticks next = std::min(deadline, Clock::now() + kFirstWord);
  while (house_.counts.connections > 0 && Clock::now() < deadline) {
    ended_.expires_at(next);
    co_await quietly_wait(ended_);
    if (Clock::now() < next) continue;
    for (Session* const session : house_.idle) session->retire();
    next = deadline;
  }
  const bool is_whole = house_.counts.connections == 0;
  is_over_ = true;
  ended_.cancel();
  co_return is_whole;
}

void Server::starved() {
  ++house_.counts.out_of_files;
  log(LogLevel::warning, "http", "no descriptor is left to accept a connection with",
      {{"connections", static_cast<std::int64_t>(house_.counts.connections)}});
}

// Whether one more may come: who has waited longest for nothing makes room, and where nobody does,
// who is longest in saying what it wants.
bool Server::make_room() {
  if (house_.counts.connections < house_.limits.connections) return true;
  std::list<Session*>& from = house_.idle.empty() ? house_.busy : house_.idle;
  const auto oldest =
      house_.idle.empty() ? std::ranges::find_if(from, &Session::is_reading_head) : from.begin();
  if (oldest == from.end()) return false;
  Session* const leaves = *oldest;
  from.splice(from.end(), from, oldest);
  leaves->close();
  return true;
}

void Server::turned_away(const Listener& listener, os::Arrival arrival) {
  ++house_.counts.turned_away;
  if (listener.is_tls()) return;
  const std::string answer = problem_answer(503, "too many connections");
  static_cast<void>(os::send(arrival.socket, as_bytes(answer)));
}

void Server::arrived(const Listener& listener, os::Arrival arrival) {
  std::string address = arrival.address ? counted_as(*arrival.address) : std::string{};
  Peer peer;
  if (arrival.address) {
    std::size_t& count = by_address_[address];
    if (count >= house_.limits.per_address) {
      ++house_.counts.over_address;
      return;
    }
    peer.address = arrival.address->text();
  } else if (auto local = os::peer_credentials(arrival.socket)) {
    peer.local = *local;
  }
  if (!make_room()) return turned_away(listener, std::move(arrival));
  std::optional<OwnedSsl> ssl;
  if (listener.is_tls()) {
    if (!tls_) return;
    auto accepted = tls_->accept();
    if (!accepted) return;
    ssl = *std::move(accepted);
  }
  if (arrival.address) ++by_address_[address];
  // What the family is matters to nobody who only reads and writes.
  Stream::Socket socket{executor_};
  boost::system::error_code failed;
  socket.assign({AF_UNIX, 0}, arrival.socket.release(), failed);
  auto session = std::make_unique<Session>(house_, std::move(socket), std::move(peer));
  Session* const it = session.get();
  it->task = scope_->spawn(run_session(std::move(session), std::move(ssl), std::move(address)));
}

asio::awaitable<void> Server::run_session(std::unique_ptr<Session> session,
                                          std::optional<OwnedSsl> ssl, std::string address) {
  // A task begins within spawn: its session could be over before it knew its task.
  co_await asio::post(executor_, asio::use_awaitable);
  try {
    co_await session->run(std::move(ssl));
  } catch (...) {
    if (!async::is_cancellation(std::current_exception())) throw;
  }
  session.reset();
  const auto count = by_address_.find(address);
  if (count != by_address_.end() && --count->second == 0) by_address_.erase(count);
}

asio::awaitable<void> Server::look_for_gone() {
  while (!is_over_) {
    is_looking_ = !house_.busy.empty();
    if (is_looking_) {
      look_.expires_after(house_.times.gone);
    } else {
      look_.expires_at(asio::steady_timer::time_point::max());
    }
    co_await quietly_wait(look_);
    cancel_gone();
  }
}

// One call for all whose requests take long. A client that has shut its own direction counts as
// gone: it cannot be told from one that has left.
void Server::cancel_gone() {
  const Ticks before = Clock::now() - house_.times.gone;
  std::vector<pollfd> looks;
  std::vector<Session*> sessions;
  for (Session* const session : house_.busy) {
    if (session->busy_since().value_or(Ticks::max()) > before) continue;
    const short wanted = session->is_retired() ? short{0} : short{POLLRDHUP};
    looks.push_back({.fd = session->native_handle(), .events = wanted, .revents = 0});
    sessions.push_back(session);
  }
  if (looks.empty() || ::poll(looks.data(), looks.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    if (looks[i].revents == 0) continue;
    ++house_.counts.gone;
    async::Scope::cancel(sessions[i]->task);
  }
}

}  // namespace cordon::http
