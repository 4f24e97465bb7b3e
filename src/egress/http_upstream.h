// SPDX-License-Identifier: Apache-2.0
// The connection to the host: made when the first request may go there, and kept for later ones.
#pragma once

#include <memory>

#include "egress/destination.h"
#include "egress/http_gate.h"
#include "egress/http_times.h"
#include "egress/inbox.h"
#include "egress/tls.h"
#include "http/stream.h"
#include "http/watchdog.h"

namespace cordon::egress {

class HttpUpstream {
 public:
  // All outlive it.
  HttpUpstream(const Destination& to, HttpGate& gate, const TlsClient& tls,
               http::Watchdog& watchdog, const HttpTimes& times)
      : to_{to}, gate_{gate}, tls_{tls}, watchdog_{watchdog}, times_{times} {}

  // Keeps a connection that is still open and silent, or makes one. Where the destination has TLS,
  // the host has proven its name when this succeeds; no byte of a request was sent before.
  asio::awaitable<Judged<void>> open();
  void close() noexcept;

  // What follows, before: open() has succeeded and close() was not called.
  http::Stream& stream() noexcept { return open_->stream; }
  Inbox& inbox() noexcept { return open_->inbox; }

  bool is_open() const noexcept { return open_ != nullptr; }
  // A request was answered on it already: it may have been closed unseen since.
  bool is_reused() const noexcept { return is_reused_; }
  bool is_verified() const noexcept;
  // From here on OpenSSL overwrites what it has handed out. Before: as with stream().
  void keep_nothing() noexcept;

 private:
  struct Open {
    Open(asio::ip::tcp::socket socket, http::Watchdog& watchdog)
        : stream{std::move(socket), {}, watchdog}, inbox{stream} {}
    http::Stream stream;
    Inbox inbox;
  };
  bool is_silent();
  asio::awaitable<Judged<void>> secure();

  const Destination& to_;
  HttpGate& gate_;
  const TlsClient& tls_;
  http::Watchdog& watchdog_;
  const HttpTimes& times_;
  std::unique_ptr<Open> open_;
  bool is_reused_ = false;
};

}  // namespace cordon::egress
