// SPDX-License-Identifier: Apache-2.0
#include "guest/dial.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/result.h"
#include "os/socket.h"

namespace cordon::guest {
namespace {

// A listener whose queue is full lets everybody wait.
constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};

template <class Address>
Result<os::Fd> connect_to(int family, const Address& address) {
  os::Fd socket{::socket(family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP)};
  if (!socket) return Error::from_errno("socket");
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience) != 0) {
    return Error::from_errno("SO_SNDTIMEO");
  }
  const int on = 1;
  static_cast<void>(::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const bool late = errno == EINPROGRESS || errno == EAGAIN;
    return Error::from_errno("connect", late ? ETIMEDOUT : errno);
  }
  return socket;
}

Result<os::Fd> connect_to_loopback(std::uint16_t port) {
  const sockaddr_in four{.sin_family = AF_INET,
                         .sin_port = ::htons(port),
                         .sin_addr = {.s_addr = ::htonl(INADDR_LOOPBACK)}};
  auto socket = connect_to(AF_INET, four);
  if (socket) return socket;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = ::htons(port);
  six.sin6_addr = in6addr_loopback;
  auto other = connect_to(AF_INET6, six);
  return other ? std::move(other) : std::move(socket);
}

void tell(int error_number, const os::Fd& answer, std::span<const os::Fd* const> fds) {
  static_cast<void>(
      os::send(answer, std::as_bytes(std::span<const int, 1>{&error_number, 1}), fds));
}

}  // namespace

void dial(const frame::OpenTunnel& wanted, const os::Fd& answer) {
  const auto socket = connect_to_loopback(wanted.port);
  if (!socket) return refuse_dial(socket.error().cause().value(), answer);
  const std::array<const os::Fd*, 1> fds{&*socket};
  tell(0, answer, fds);
}

void refuse_dial(int error_number, const os::Fd& answer) {
  tell(error_number != 0 ? error_number : EIO, answer, {});
}

}  // namespace cordon::guest
