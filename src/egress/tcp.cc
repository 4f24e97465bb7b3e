// SPDX-License-Identifier: Apache-2.0
#include "egress/tcp.h"

#include <boost/asio/buffer.hpp>

namespace cordon::egress {

using asio::ip::tcp;

bool would_block(const boost::system::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

Result<std::string_view> write_some(tcp::socket& to, std::string_view bytes) {
  while (!bytes.empty()) {
    boost::system::error_code error;
    const std::size_t sent = to.send(asio::buffer(bytes), 0, error);
    if (would_block(error)) break;
    if (error) return Error::from_errno("send", error.value());
    bytes.remove_prefix(sent);
  }
  return bytes;
}

void reset(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(asio::socket_base::linger{true, 0}, ignored);
  socket.close(ignored);
}

SocketLimit::SocketLimit(tcp::socket& socket, std::chrono::steady_clock::duration limit)
    : state_{std::make_shared<State>(State{.socket = &socket})},
      timer_{socket.get_executor(), limit} {
  timer_.async_wait([state = state_](const boost::system::error_code& error) {
    if (error || state->socket == nullptr) return;
    state->has_passed = true;
    boost::system::error_code ignored;
    state->socket->cancel(ignored);
  });
}

SocketLimit::~SocketLimit() { state_->socket = nullptr; }

}  // namespace cordon::egress
