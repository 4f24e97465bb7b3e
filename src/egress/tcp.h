// SPDX-License-Identifier: Apache-2.0
// What a TCP socket takes at once, how long it may wait, and its hard end.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"

namespace cordon::egress {

// Of a socket that does not block: it would have.
bool would_block(const boost::system::error_code& error);

// Tries without waiting. Gives what is left.
Result<std::string_view> write_some(asio::ip::tcp::socket& to, std::string_view bytes);

// Ends a connection so that its peer is told at once, and nothing of it waits in the kernel.
void reset(asio::ip::tcp::socket& socket);

// Cancels whatever a socket waits for when its time has passed. A task beside the wait, as
// async::within has it, would cost a connection more than the wait does.
class SocketLimit {
 public:
  // Does not outlive the socket.
  SocketLimit(asio::ip::tcp::socket& socket, std::chrono::steady_clock::duration limit);
  SocketLimit(const SocketLimit&) = delete;
  SocketLimit& operator=(const SocketLimit&) = delete;
  ~SocketLimit();

  bool has_passed() const noexcept { return state_->has_passed; }

 private:
  struct State {
    asio::ip::tcp::socket* socket;  // null: the limit is gone, and its timer had fired already
    bool has_passed = false;
  };
  std::shared_ptr<State> state_;
  asio::steady_timer timer_;
};

}  // namespace cordon::egress
