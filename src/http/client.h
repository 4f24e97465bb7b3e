// SPDX-License-Identifier: Apache-2.0
// A client of one connection: requests one after another, answers as they come, or a WebSocket.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "http/body.h"
#include "http/head.h"
#include "http/parse_head.h"
#include "http/shared_inbox.h"
#include "http/stream.h"
#include "http/watchdog.h"
#include "http/websocket.h"
#include "os/fd.h"

namespace cordon::http {

struct ClientTimes {
  std::chrono::nanoseconds head = std::chrono::minutes{5};    // of an answer, from the request
  std::chrono::nanoseconds body = std::chrono::hours{24};     // of silence in it
  std::chrono::nanoseconds write = std::chrono::seconds{30};  // of a server that does not read
};

// Used from the loop's thread only, one request at a time: the answer is read to its end before the
// next one begins.
class Client {
 public:
  // `socket` is connected already, over TCP or in the Unix domain. `host` is what requests name.
  Client(const asio::any_io_executor& executor, os::Fd socket, Authority host,
         ClientTimes times = {});
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Runs beside all else, in a scope: it ends waits that last too long. Until stop().
  asio::awaitable<void> watch() { return watchdog_.run(); }
  void stop() { watchdog_.stop(); }

  // A whole request. `path` with its query; refused where it is no target.
  async::Task<void> send(std::string method, std::string path, Fields fields, std::string body);
  // Or in pieces, of `length` together or as chunks.
  async::Task<void> begin(std::string method, std::string path, Fields fields,
                          std::optional<std::uint64_t> length);
  async::Task<void> write(std::string_view piece);
  async::Task<void> finish();

  // The head of the answer, interim ones passed over.
  async::Task<ResponseHead> head();
  // At least one byte of its body, or 0: it has ended, as it should.
  async::Task<std::size_t> read_some(std::span<char> room);
  // All of it. Errc::exhausted: it is longer than `most`.
  async::Task<std::string> read_body(std::size_t most);

  // The handshake and what follows; the connection speaks nothing else afterwards. Errc::denied:
  // the server answered something else, which head() gives: its body may be read.
  async::Task<std::unique_ptr<WebSocket>> upgrade(std::string path, Fields fields,
                                                  WebSocketRules rules);

 private:
  async::Task<void> put(std::span<const char> bytes);
  async::Task<void> send_head(RequestHead head, After after);

  ClientTimes times_;
  Authority host_;
  Watchdog watchdog_;
  std::vector<char> room_;
  Stream stream_;
  SharedInbox inbox_;
  std::string method_;
  bool has_asked_upgrade_ = false;
  Framing sent_;
  std::optional<ResponseHead> early_;  // of an upgrade that was refused
  std::optional<BodyReader> body_;
};

}  // namespace cordon::http
