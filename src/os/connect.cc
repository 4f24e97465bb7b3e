// SPDX-License-Identifier: Apache-2.0
// connect, and SO_ERROR for its end.
#include "os/connect.h"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>

namespace cordon::os {
namespace {

template <class Name>
Status begin(int socket, const Name& name) {
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0) return {};
  if (errno == EINPROGRESS) return {};
  return Error::from_errno("connect");
}

}  // namespace

Status begin_connect(int socket, const IpAddress& address, std::uint16_t port) {
  const auto bytes = address.bytes();
  if (address.is_v6()) {
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    name.sin6_port = htons(port);
    std::ranges::copy(bytes, std::begin(name.sin6_addr.s6_addr));
    return begin(socket, name);
  }
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  std::ranges::copy(bytes, reinterpret_cast<std::uint8_t*>(&name.sin_addr));
  return begin(socket, name);
}

Status has_connected(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
    return Error::from_errno("getsockopt SO_ERROR");
  }
  if (error != 0) return Error::from_errno("connect", error);
  return {};
}

}  // namespace cordon::os
