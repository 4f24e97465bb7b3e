// SPDX-License-Identifier: Apache-2.0
// Accepts connections at a socket that listens already, also when no descriptor is left.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "base/result.h"
#include "os/accept.h"
#include "os/fd.h"

namespace cordon::http {

class Listener {
 public:
  // `socket` listens, in the Unix domain or over TCP.
  static Result<Listener> create(const asio::any_io_executor& executor, os::Fd socket, bool is_tls);

  // Who is told what it finds.
  struct Hearers {
    std::function<void(os::Arrival)> arrived;
    std::function<void(os::Arrival)> turned_away;  // there is no room for it
    std::function<void()> starved;                 // once for each time that descriptors run out
  };
  // Until it is stopped or cancelled. Where descriptors are used up, connections wait in the
  // kernel; after a second some are turned away, by the one that is held back for it.
  asio::awaitable<void> run(Hearers hearers);
  void stop();

  bool is_tcp() const noexcept { return is_tcp_; }
  bool is_tls() const noexcept { return is_tls_; }

 private:
  Listener(asio::posix::stream_descriptor socket, os::Fd reserve, bool is_tcp, bool is_tls);
  asio::awaitable<void> wait();
  bool accept_some(const Hearers& hearers);
  void relieve(const Hearers& hearers);

  asio::posix::stream_descriptor socket_;
  os::Fd reserve_;  // given up when no other is left
  asio::steady_timer pause_;
  std::optional<Ticks> starved_since_;
  bool is_tcp_;
  bool is_tls_;
  bool is_stopped_ = false;
};

}  // namespace cordon::http
