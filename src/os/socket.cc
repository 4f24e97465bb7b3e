// SPDX-License-Identifier: Apache-2.0
// sendmsg and recvmsg with SCM_RIGHTS.
#include "os/socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace cordon::os {
namespace {

// Room for every descriptor that one message can carry, so that a message with too many is seen
// whole and refused by us; should the kernel ever send more, MSG_CTRUNC says so.
constexpr std::size_t kControlSize = CMSG_SPACE(kMostFdsInMessage * sizeof(int));
struct alignas(cmsghdr) ControlBuffer {
  std::array<std::byte, kControlSize> bytes{};
};

Result<Fd> unix_socket(SocketType type) {
  const int fd = ::socket(AF_UNIX, static_cast<int>(type) | SOCK_CLOEXEC, 0);
  if (fd < 0) return Error::from_errno("socket");
  return Fd{fd};
}

const sockaddr* generic(const UnixAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.raw());
}

// Takes ownership of every descriptor in the control messages, whatever else is wrong with them.
std::vector<Fd> take_fds(msghdr& message) {
  std::vector<Fd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof number);
      fds.emplace_back(number);
    }
  }
  return fds;
}

Result<Received> receive_by(const Fd& socket, std::span<std::byte> buffer, std::size_t most_fds,
                            int flags) {
  iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC | flags);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return Error::from_errno("recvmsg");
  std::vector<Fd> fds = take_fds(message);
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || fds.size() > most_fds) {
    return Error{Errc::invalid, "recvmsg: a message of more bytes or descriptors than allowed"};
  }
  return Received{.bytes = static_cast<std::size_t>(got), .fds = std::move(fds)};
}

}  // namespace

Result<SocketPair> socketpair(SocketType type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, static_cast<int>(type) | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error::from_errno("socketpair");
  }
  return SocketPair{.one = Fd{ends[0]}, .two = Fd{ends[1]}};
}

Result<UnixAddress> UnixAddress::at_path(std::string_view path) {
  UnixAddress address;
  if (path.empty() || path.size() >= sizeof address.raw_.sun_path ||
      path.find('\0') != std::string_view::npos) {
    return Error{Errc::invalid, "socket path: 1 to 107 bytes without NUL: " + std::string{path}};
  }
  address.raw_.sun_family = AF_UNIX;
  std::ranges::copy(path, &address.raw_.sun_path[0]);
  address.size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

Result<UnixAddress> UnixAddress::abstract(std::string_view name) {
  UnixAddress address;
  if (name.empty() || name.size() >= sizeof address.raw_.sun_path) {
    return Error{Errc::invalid, "abstract socket name: 1 to 107 bytes"};
  }
  address.raw_.sun_family = AF_UNIX;
  std::ranges::copy(name, &address.raw_.sun_path[1]);
  address.size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

std::string_view UnixAddress::text() const noexcept {
  const char* path = &raw_.sun_path[0];
  const std::size_t length = size_ - offsetof(sockaddr_un, sun_path);
  // An abstract name begins with NUL and has no end mark, a path ends with NUL.
  return *path == '\0' ? std::string_view{path + 1, length - 1}
                       : std::string_view{path, length - 1};
}

Result<Fd> unix_listen(const UnixAddress& address, SocketType type, int backlog) {
  TRY(Fd socket, unix_socket(type));
  if (::bind(socket.get(), generic(address), address.size()) != 0) {
    return Error::from_errno("bind").with(address.text());
  }
  if (::listen(socket.get(), backlog) != 0) {
    return Error::from_errno("listen").with(address.text());
  }
  return socket;
}

Result<Fd> unix_connect(const UnixAddress& address, SocketType type) {
  TRY(Fd socket, unix_socket(type));
  if (::connect(socket.get(), generic(address), address.size()) != 0) {
    return Error::from_errno("connect").with(address.text());
  }
  return socket;
}

Result<Fd> accept(const Fd& listener) {
  int fd = -1;
  do {
    fd = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return Error::from_errno("accept4");
  return Fd{fd};
}

Result<std::size_t> send(const Fd& socket, std::span<const std::byte> bytes,
                         std::span<const Fd* const> fds) {
  if (fds.size() > kMostFdsInMessage || (bytes.empty() && !fds.empty())) {
    return Error{Errc::invalid, "sendmsg: at most 253 descriptors, and one byte with them"};
  }
  // sendmsg writes through neither pointer.
  iovec part{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    for (std::size_t i = 0; i < fds.size(); ++i) {
      const int number = fds[i]->get();
      std::memcpy(CMSG_DATA(header) + i * sizeof(int), &number, sizeof number);
    }
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return Error::from_errno("sendmsg");
  return static_cast<std::size_t>(sent);
}

Result<Received> receive(const Fd& socket, std::span<std::byte> buffer, std::size_t most_fds) {
  return receive_by(socket, buffer, most_fds, 0);
}

Result<Received> receive_now(const Fd& socket, std::span<std::byte> buffer) {
  return receive_by(socket, buffer, 0, MSG_DONTWAIT);
}

bool would_wait(const Error& error) noexcept {
  return error.cause() == std::errc::resource_unavailable_try_again;
}

Result<PeerCredentials> peer_credentials(const Fd& socket) {
  ucred raw{};
  socklen_t size = sizeof raw;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &raw, &size) != 0) {
    return Error::from_errno("getsockopt SO_PEERCRED");
  }
  return PeerCredentials{.pid = raw.pid, .uid = raw.uid, .gid = raw.gid};
}

}  // namespace cordon::os
