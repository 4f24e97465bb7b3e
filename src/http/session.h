// SPDX-License-Identifier: Apache-2.0
// One connection of a server: its requests, one at a time and in order.
#pragma once

#include <list>
#include <optional>
#include <string>

#include "async/scope.h"
#include "async/task.h"
#include "http/exchange.h"
#include "http/parse_head.h"
#include "http/peer.h"
#include "http/server_limits.h"
#include "http/server_tls.h"
#include "http/shared_inbox.h"
#include "http/stream.h"
#include "http/watchdog.h"

namespace cordon::http {

class Session;

// What the sessions of one server share.
struct SessionHouse {
  SessionHouse(const asio::any_io_executor& executor, const ServerLimits& limits_in,
               const ServerTimes& times_in, Handler handler_in);
  SessionHouse(const SessionHouse&) = delete;
  SessionHouse& operator=(const SessionHouse&) = delete;

  ServerLimits limits;
  ServerTimes times;
  Handler handler;
  ServerCounts counts;
  Watchdog watchdog;
  std::vector<char> room;
  std::list<Session*> idle;  // wait for a request: who has waited longest first
  std::list<Session*> busy;
  bool is_draining = false;
  std::function<void()> on_busy{[] {}};
  std::function<void()> on_end{[] {}};
  Exchange::Server seen;  // by handlers

 private:
  std::string_view date();
  std::string date_;
  std::time_t date_at_ = -1;
};

class Session {
 public:
  Session(SessionHouse& house, Stream::Socket socket, Peer peer);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // With `ssl` the handshake comes first. Returns when the connection has ended.
  asio::awaitable<void> run(std::optional<OwnedSsl> ssl);

  // Has no new request come: one that is here already is still answered, with "close".
  void retire() noexcept;
  void close() noexcept { stream_.close(); }

  // For a look at who has left: since when its request is served, nothing: it is not.
  std::optional<Ticks> busy_since() const noexcept { return busy_since_; }
  bool is_retired() const noexcept { return is_retired_; }
  // Whether a head has begun, and has not ended yet.
  bool is_reading_head() const noexcept { return is_reading_head_; }
  // Whether a request has come.
  bool has_spoken() const noexcept { return has_spoken_; }
  // Whether it speaks no HTTP any more.
  bool is_upgraded() const noexcept {
    return exchange_ && exchange_->state_ == Exchange::State::upgraded;
  }
  int native_handle() noexcept { return stream_.native_handle(); }

  // The task that runs it.
  async::Scope::Child task;

 private:
  asio::awaitable<bool> serve_one(bool is_first);
  // Nothing: the connection ends, and the client was told why where it can be.
  asio::awaitable<std::optional<RequestHead>> read_head(bool is_first);
  asio::awaitable<bool> handle(RequestHead head);
  asio::awaitable<void> call_handler(Exchange& exchange);
  asio::awaitable<void> answer_fault(Exchange& exchange);
  // Ends the connection after it has told `why`.
  asio::awaitable<void> refuse(int status, std::string why);
  asio::awaitable<void> end(bool is_unread);
  void become_idle();
  void become_busy();

  SessionHouse& house_;
  Peer peer_;
  Stream stream_;
  SharedInbox inbox_;
  std::list<Session*>::iterator place_;
  std::optional<Ticks> busy_since_;
  bool is_retired_ = false;
  bool has_spoken_ = false;
  bool is_reading_head_ = false;
  // Of one request. Here and not in the tasks that use them: those are made anew for each.
  std::optional<RequestReader> reader_;
  std::optional<Exchange> exchange_;
};

}  // namespace cordon::http
