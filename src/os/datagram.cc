// SPDX-License-Identifier: Apache-2.0
#include "os/datagram.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace cordon::os {
namespace {

constexpr std::size_t kControl = CMSG_SPACE(sizeof(in_pktinfo));

Ipv4Port from_wire(const sockaddr_in& name) {
  return {.address = ntohl(name.sin_addr.s_addr), .port = ntohs(name.sin_port)};
}

}  // namespace

Result<std::optional<Datagram>> receive_datagram(const Fd& socket, std::span<std::byte> buffer) {
  sockaddr_in from{};
  iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
  alignas(cmsghdr) std::array<std::byte, kControl> control{};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket.get(), &message, 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return std::optional<Datagram>{};
  if (got < 0) return Error::from_errno("recvmsg");
  Datagram datagram{.bytes = static_cast<std::size_t>(got), .from = from_wire(from)};
  for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
    if (at->cmsg_level != IPPROTO_IP || at->cmsg_type != IP_PKTINFO) continue;
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(at), sizeof info);
    datagram.meant = ntohl(info.ipi_addr.s_addr);
  }
  return std::optional{datagram};
}

Status answer_datagram(const Fd& socket, const Datagram& datagram,
                       std::span<const std::byte> bytes) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(datagram.from.port);
  to.sin_addr.s_addr = htonl(datagram.from.address);
  iovec part{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<std::byte, kControl> control{};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof to;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const at = CMSG_FIRSTHDR(&message);
  at->cmsg_level = IPPROTO_IP;
  at->cmsg_type = IP_PKTINFO;
  at->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
  in_pktinfo info{};
  info.ipi_spec_dst.s_addr = htonl(datagram.meant);
  std::memcpy(CMSG_DATA(at), &info, sizeof info);
  if (::sendmsg(socket.get(), &message, MSG_NOSIGNAL) < 0 && errno != EAGAIN) {
    return Error::from_errno("sendmsg");
  }
  return {};
}

Result<Ipv4Port> local_name(int socket) {
  sockaddr_in name{};
  socklen_t size = sizeof name;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) {
    return Error::from_errno("getsockname");
  }
  if (name.sin_family != AF_INET) return Error{Errc::invalid, "not an IPv4 socket"};
  return from_wire(name);
}

}  // namespace cordon::os
