// SPDX-License-Identifier: Apache-2.0
#include "guest/tunnel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>

#include "os/socket.h"

namespace cordon::guest {
namespace {

bool is(const os::Fd& socket, int option, int value) {
  int found = 0;
  socklen_t size = sizeof found;
  return ::getsockopt(socket.get(), SOL_SOCKET, option, &found, &size) == 0 && found == value;
}

// Whoever sends it has the workload's id: it could be any descriptor.
bool is_connection(const os::Fd& socket) {
  return (is(socket, SO_DOMAIN, AF_INET) || is(socket, SO_DOMAIN, AF_INET6)) &&
         is(socket, SO_TYPE, SOCK_STREAM) && is(socket, SO_PROTOCOL, IPPROTO_TCP);
}

bool would_wait() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

Result<os::Fd> Tunnel::await(const os::Epoll& epoll) {
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::seqpacket));
  TRY_DO(epoll.add(pair.one, EPOLLIN, answer_tag_));
  answer_ = std::move(pair.one);
  return std::move(pair.two);
}

void Tunnel::hear_answer(const os::Epoll& epoll) {
  if (!answer_) return;
  std::array<std::byte, sizeof(int)> said{};
  auto received = os::receive(answer_, said, 1);
  static_cast<void>(epoll.remove(answer_));
  answer_ = os::Fd{};
  if (!received || received->bytes != said.size()) return fail(epoll, EIO);
  int error_number = 0;
  std::memcpy(&error_number, said.data(), sizeof error_number);
  if (error_number != 0) return fail(epoll, error_number);
  if (received->fds.empty() || !is_connection(received->fds[0])) return fail(epoll, EPROTO);
  socket_ = std::move(received->fds[0]);
  opened_owed_ = true;
  watch(epoll);
}

void Tunnel::fail(const os::Epoll& epoll, int error_number) {
  close(epoll);
  failure_ = error_number;
  failure_owed_ = true;
}

void Tunnel::close(const os::Epoll& epoll) {
  if (answer_) static_cast<void>(epoll.remove(answer_));
  if (socket_ && watched_ != 0) static_cast<void>(epoll.remove(socket_));
  answer_ = os::Fd{};
  socket_ = os::Fd{};
  watched_ = 0;
  in_ = std::string{};
  failed_ = true;
}

// Taken out of the set while nothing is wanted: the kernel would still tell of a hang-up, again and
// again.
void Tunnel::watch(const os::Epoll& epoll) {
  if (!socket_) return;
  const bool room = read_ - confirmed_ < frame::kTunnelWindow;
  const std::uint32_t wanted = (room && !out_ended_ ? EPOLLIN : 0U) | (in_.empty() ? 0U : EPOLLOUT);
  if (wanted == watched_) return;
  const Status set = wanted == 0     ? epoll.remove(socket_)
                     : watched_ == 0 ? epoll.add(socket_, wanted, tag_)
                                     : epoll.modify(socket_, wanted, tag_);
  watched_ = wanted;
  if (!set) fail(epoll, ENOMEM);
}

void Tunnel::move(const os::Epoll& epoll) {
  if (socket_ && !in_.empty()) write(epoll);
  if (socket_ && !out_ended_) read(epoll);
  watch(epoll);
}

void Tunnel::read(const os::Epoll& epoll) {
  const std::size_t room = frame::kTunnelWindow - (read_ - confirmed_);
  if (room == 0) return;
  const std::size_t had = out_.size();
  out_.resize(had + std::min(room, frame::kMostData));
  const ssize_t count = ::recv(socket_.get(), out_.data() + had, out_.size() - had, MSG_DONTWAIT);
  out_.resize(had + (count > 0 ? static_cast<std::size_t>(count) : 0));
  if (count > 0) {
    read_ += static_cast<std::uint64_t>(count);
  } else if (count == 0) {
    out_ended_ = end_owed_ = true;
  } else if (!would_wait()) {
    fail(epoll, errno);
  }
}

void Tunnel::write(const os::Epoll& epoll) {
  std::size_t done = 0;
  while (done < in_.size()) {
    const ssize_t count =
        ::send(socket_.get(), in_.data() + done, in_.size() - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && !would_wait()) return fail(epoll, errno);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  written_ += done;
  in_.erase(0, done);
  if (!in_.empty()) return;
  in_ = std::string{};
  if (in_ended_ && !std::exchange(shut_, true)) ::shutdown(socket_.get(), SHUT_WR);
}

Status Tunnel::give(const os::Epoll& epoll, std::string_view bytes) {
  if (failed_) return {};  // the host does not know yet
  if (!socket_ || in_ended_) return Error{Errc::invalid, "bytes for a tunnel that takes none"};
  if (in_.size() + bytes.size() > frame::kTunnelWindow) {
    return Error{Errc::invalid, "more for a tunnel than its window"};
  }
  in_ += bytes;
  write(epoll);
  watch(epoll);
  return {};
}

void Tunnel::end_input(const os::Epoll& epoll) {
  in_ended_ = true;
  if (!socket_) return;
  write(epoll);
  watch(epoll);
}

Status Tunnel::confirm(const os::Epoll& epoll, std::uint64_t count) {
  if (count > read_ - out_.size()) return Error{Errc::invalid, "bytes that were never sent"};
  confirmed_ = std::max(confirmed_, count);
  watch(epoll);
  return {};
}

bool Tunnel::append_owed(std::vector<std::byte>& out) {
  const std::size_t before = out.size();
  if (std::exchange(opened_owed_, false)) append(out, frame::TunnelOpened{number_});
  // Few words for many bytes, unless the host may be waiting for them.
  if (written_ - written_told_ >= frame::kTunnelWindow / 4 ||
      (in_.empty() && written_ != written_told_)) {
    written_told_ = written_;
    append(out, frame::TunnelTaken{number_, written_});
  }
  if (!out_.empty()) {
    const std::size_t count = std::min(out_.size(), frame::kMostData);
    append(out, frame::TunnelData{number_, out_.substr(0, count)});
    out_.erase(0, count);
    if (out_.empty()) out_ = std::string{};
  } else if (std::exchange(end_owed_, false)) {
    append(out, frame::TunnelEnd{number_});
  } else if (std::exchange(failure_owed_, false)) {
    append(out, frame::TunnelFailed{number_, failure_});
  }
  return out.size() != before;
}

bool Tunnel::is_over() const noexcept {
  if (failed_) return !failure_owed_ && out_.empty() && !end_owed_;
  return out_ended_ && !end_owed_ && out_.empty() && shut_;
}

}  // namespace cordon::guest
