// SPDX-License-Identifier: Apache-2.0
// accept4, and SO_DOMAIN to tell families apart.
#include "os/accept.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace cordon::os {
namespace {

// ::ffff:a.b.c.d is how a listener of IPv6 names a peer of IPv4.
std::optional<IpAddress> unmapped(std::optional<IpAddress> address) {
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (!address || !address->is_v6()) return address;
  const auto bytes = address->bytes();
  if (!std::ranges::equal(bytes.first(kMapped.size()), kMapped)) return address;
  return IpAddress::v4({bytes[12], bytes[13], bytes[14], bytes[15]});
}

Result<int> option(const Fd& socket, int name, const char* call) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(socket.get(), SOL_SOCKET, name, &value, &size) != 0)
    return Error::from_errno(call);
  return value;
}

}  // namespace

Result<Arrival> accept_now(const Fd& listener) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  auto* const raw = reinterpret_cast<sockaddr*>(&name);
  int fd = -1;
  do {
    fd = ::accept4(listener.get(), raw, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
  if (fd < 0) return Error::from_errno("accept4");
  return Arrival{.socket = Fd{fd}, .address = unmapped(IpAddress::of(*raw))};
}

Result<bool> is_tcp_listener(const Fd& listener) {
  TRY(const int listens, option(listener, SO_ACCEPTCONN, "getsockopt SO_ACCEPTCONN"));
  TRY(const int type, option(listener, SO_TYPE, "getsockopt SO_TYPE"));
  TRY(const int domain, option(listener, SO_DOMAIN, "getsockopt SO_DOMAIN"));
  if (listens == 0 || type != SOCK_STREAM)
    return Error{Errc::invalid, "not a stream socket that listens"};
  if (domain == AF_INET || domain == AF_INET6) return true;
  if (domain == AF_UNIX) return false;
  return Error{Errc::invalid, "a socket of neither TCP nor the Unix domain"};
}

Status set_no_delay(const Fd& listener) {
  const int on = 1;
  if (::setsockopt(listener.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
    return Error::from_errno("setsockopt TCP_NODELAY");
  return {};
}

}  // namespace cordon::os
