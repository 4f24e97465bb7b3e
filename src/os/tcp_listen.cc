// SPDX-License-Identifier: Apache-2.0
#include "os/tcp_listen.h"

#include <algorithm>
#include <netinet/in.h>
#include <sys/socket.h>

namespace cordon::os {
namespace {

socklen_t fill(sockaddr_storage& name, const IpAddress& address, std::uint16_t port) {
  if (address.is_v6()) {
    auto& six = reinterpret_cast<sockaddr_in6&>(name);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    std::ranges::copy(address.bytes(), six.sin6_addr.s6_addr);
    return sizeof six;
  }
  auto& four = reinterpret_cast<sockaddr_in&>(name);
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  std::ranges::copy(address.bytes(), reinterpret_cast<std::uint8_t*>(&four.sin_addr));
  return sizeof four;
}

}  // namespace

Result<Fd> tcp_listen(const IpAddress& address, std::uint16_t port) {
  sockaddr_storage name{};
  const socklen_t size = fill(name, address, port);
  Fd socket{::socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket) return Error::from_errno("socket");
  const int yes = 1;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0) {
    return Error::from_errno("setsockopt");
  }
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), size) != 0) {
    return Error::from_errno("bind").with(address.text() + " port " + std::to_string(port));
  }
  if (::listen(socket.get(), SOMAXCONN) != 0) return Error::from_errno("listen");
  return socket;
}

}  // namespace cordon::os
