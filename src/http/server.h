// SPDX-License-Identifier: Apache-2.0
// A server of HTTP/1.1 at sockets that listen already: it accepts, bounds, counts and drains.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "http/exchange.h"
#include "http/listener.h"
#include "http/server_limits.h"
#include "http/server_tls.h"
#include "http/session.h"

namespace cordon::http {

struct ServerSetup {
  struct Listening {
    os::Fd socket;  // of the Unix domain or of TCP
    bool is_tls = false;
  };
  std::vector<Listening> listeners;
  std::optional<ServerTls> tls;
  Handler handler;
  std::function<Fields()> also{};  // fields that are said with each answer of a handler
  ServerLimits limits{};
  ServerTimes times{};
};

// Used from the loop's thread only.
class Server {
 public:
  // Refused: a socket that does not listen, and one for TLS where no certificate is.
  static Result<std::unique_ptr<Server>> create(const asio::any_io_executor& executor,
                                                ServerSetup setup);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Serves until drain() has ended, or until it is cancelled: then every handler is cancelled.
  // Once.
  asio::awaitable<void> run();

  // Accepts nothing more: who connects waits in the kernel, for whoever else holds the socket. Idle
  // connections end at once, and so do those that were upgraded; requests that have arrived are
  // answered, and told that the connection ends. Returns when all have ended, or `limit` has
  // passed: then false, and the rest is cancelled. A request that a client could send over a Unix
  // socket before its connection was ended is answered; over TCP it may be on its way meanwhile,
  // and is lost.
  asio::awaitable<bool> drain(std::chrono::nanoseconds limit);

  // For connections that come from now on.
  void set_tls(ServerTls tls) { tls_ = std::move(tls); }

  const ServerCounts& counts() const noexcept { return house_.counts; }

 private:
  Server(const asio::any_io_executor& executor, ServerSetup setup);
  asio::awaitable<bool> serve(async::Scope& scope);
  void arrived(const Listener& listener, os::Arrival arrival);
  void turned_away(const Listener& listener, os::Arrival arrival);
  void starved();
  bool make_room();
  asio::awaitable<void> run_session(std::unique_ptr<Session> session, std::optional<OwnedSsl> ssl,
                                    std::string address);
  asio::awaitable<void> look_for_gone();
  void cancel_gone();

  asio::any_io_executor executor_;
  SessionHouse house_;
  std::optional<ServerTls> tls_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::map<std::string, std::size_t, std::less<>> by_address_;
  async::Scope* scope_ = nullptr;  // while it runs
  asio::steady_timer ended_;       // never fires: cancelled when a session ends, and at the end
  asio::steady_timer look_;
  bool is_looking_ = false;
  bool is_over_ = false;
};

}  // namespace cordon::http
