// SPDX-License-Identifier: Apache-2.0
// Who decides over requests: what a terminated connection asks, and what it tells.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "async/task.h"
#include "egress/budget.h"
#include "http/head.h"

namespace cordon::egress {

struct HttpRefusal {
  int status = 403;
  std::string code;  // stable: "path_not_allowed"
  std::string text;  // in words, to follow "cordon: "; made safe to show when it is sent

  friend bool operator==(const HttpRefusal&, const HttpRefusal&) = default;
};
template <class T>
using Judged = std::expected<T, HttpRefusal>;

struct HttpPermission {
  // A grant applies: the client's own credentials are stripped, fields() is asked once the host has
  // proven its name, and what the host would set in turn (cookies, tokens) is taken from its
  // answer.
  bool inject = false;
  bool scan = false;  // scan_head() and body_scanner() are asked, in both directions
  bool websocket = false;

  friend bool operator==(const HttpPermission&, const HttpPermission&) = default;
};

// For the record, once for each request, refused ones and unreadable ones too.
struct HttpUse {
  std::string method;  // empty: the head could not be read
  std::string path;    // without the query
  int status = 0;      // as the client got it; 0: it got none
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  bool injected = false;
  bool websocket = false;
  std::optional<HttpRefusal> refusal{};
};

// Reads one body as it passes, and holds back what could be the beginning of a secret.
class HttpScanner {
 public:
  virtual ~HttpScanner() = default;
  // Gives what may be passed on: as many bytes as came in, sooner or later.
  virtual Judged<std::string> push(std::string_view piece) = 0;
  // The body has ended: the rest of it.
  virtual Judged<std::string> finish() = 0;
};

// For one connection, used from the loop's thread, outliving it. Calls come one at a time, except
// that move() and scanners serve both directions of a request.
class HttpGate {
 public:
  virtual ~HttpGate() = default;

  // Asked for each request. `head` is in origin form, and its Host is the connection's.
  virtual Judged<HttpPermission> judge(const http::RequestHead& head) = 0;

  // A connection to the address that was resolved, checked and pinned. Bounds its own time.
  virtual asio::awaitable<Judged<asio::ip::tcp::socket>> dial() = 0;

  // What to add to this request. Asked only where judge() said `inject` and the connection that
  // will carry it is TLS to a host that has proven its name. The values are overwritten after use.
  virtual asio::awaitable<Judged<http::Fields>> fields(const http::RequestHead& head) = 0;

  // How many of `wanted` bytes may be moved now; counts them.
  virtual EgressBudget::Allowance move(Direction direction, std::uint64_t wanted) = 0;

  // A head as it will be written, what fields() gave not in it. Nothing: it may pass.
  virtual std::optional<HttpRefusal> scan_head(Direction /*direction*/, std::string_view /*head*/) {
    return std::nullopt;
  }
  // For one body; none: it passes as it is. What follows an upgrade is not scanned, and an answer
  // in another content coding than identity is refused where it would have to be.
  virtual std::unique_ptr<HttpScanner> body_scanner(Direction /*direction*/) { return nullptr; }

  virtual void finished(const HttpUse& use) = 0;

  // `abort` closes both sides of the connection, so that not a byte follows; it may be called until
  // this is called again with none.
  virtual void serving(const std::function<void()>& /*abort*/) {}
};

}  // namespace cordon::egress
