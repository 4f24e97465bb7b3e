// SPDX-License-Identifier: Apache-2.0
#include "guest/control.h"

#include <algorithm>
#include <cerrno>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cordon::guest {
namespace {

constexpr std::size_t kPortBuffer = 4096;

}  // namespace

bool Control::is_readable() const {
  pollfd news{.fd = in_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&news, 1, 0) != 0;
}

std::size_t Control::readable_bytes(std::size_t most) const {
  int count = 0;
  // A machine's port says nothing of it, and gives no more at once than one of its buffers.
  if (::ioctl(in_.get(), FIONREAD, &count) != 0)
    return is_socket() ? 1 : std::min(most, kPortBuffer);
  return std::clamp(static_cast<std::size_t>(std::max(count, 1)), std::size_t{1}, most);
}

Result<os::Received> Control::receive(std::span<std::byte> buffer) const {
  if (is_socket()) return os::receive(in_, buffer, 1);
  const ssize_t got = ::read(in_.get(), buffer.data(), buffer.size());
  if (got < 0) return Error::from_errno("read");
  return os::Received{.bytes = static_cast<std::size_t>(got), .fds = {}};
}

Result<std::size_t> Control::send(std::span<const std::byte> bytes) const {
  for (;;) {
    const ssize_t sent =
        is_socket() ? ::send(in_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT)
                    : ::write(out_.get(), bytes.data(), bytes.size());
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno != EINTR) return Error::from_errno("send");
  }
}

Status Control::watch(const os::Epoll& epoll, std::uint32_t events, std::uint64_t tag) {
  if (is_watched_ && events == watched_) return {};
  const std::uint32_t in = is_socket() ? events : events & std::uint32_t{EPOLLIN};
  TRY_DO(is_watched_ ? epoll.modify(in_, in, tag) : epoll.add(in_, in, tag));
  is_watched_ = true;
  watched_ = events;
  if (is_socket()) return {};
  // While nothing waits to be written it would tell of a reader that has gone, again and again.
  const bool wants_out = (events & std::uint32_t{EPOLLOUT}) != 0;
  if (wants_out == is_out_watched_) return {};
  is_out_watched_ = wants_out;
  return wants_out ? epoll.add(out_, EPOLLOUT, tag) : epoll.remove(out_);
}

void Control::leave(const os::Epoll& epoll) {
  if (is_watched_) static_cast<void>(epoll.remove(in_));
  if (is_out_watched_) static_cast<void>(epoll.remove(out_));
  is_watched_ = is_out_watched_ = false;
}

}  // namespace cordon::guest
