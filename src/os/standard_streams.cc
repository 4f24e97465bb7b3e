// SPDX-License-Identifier: Apache-2.0
#include "os/standard_streams.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include "os/socket.h"

namespace cordon::os {

bool is_standard_terminal(int number) noexcept { return ::isatty(number) == 1; }

bool can_wait_for(int number) noexcept {
  struct stat st{};
  if (::fstat(number, &st) != 0) return false;
  return S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || ::isatty(number) == 1;
}

Result<Fd> open_standard(int number) {
  const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return Error::from_errno("fcntl F_DUPFD_CLOEXEC");
  return Fd{copy};
}

Status shut_standard_streams() {
  TRY(const SocketPair pair, socketpair(SocketType::stream));
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // They stay open through an exec, as standard streams do.
    if (::dup2(pair.one.get(), number) < 0) return Error::from_errno("dup2");
  }
  return {};
}

Result<Fd> readiness_of(int number, Ready what) {
  Fd set{::epoll_create1(EPOLL_CLOEXEC)};
  if (!set) return Error::from_errno("epoll_create1");
  epoll_event event{};
  event.events = what == Ready::read ? EPOLLIN : EPOLLOUT;
  if (::epoll_ctl(set.get(), EPOLL_CTL_ADD, number, &event) != 0) {
    return Error::from_errno("epoll_ctl");
  }
  return set;
}

Result<std::size_t> read_when_ready(int number, std::string& into) {
  ssize_t count = 0;
  do {
    count = ::read(number, into.data(), into.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno != EAGAIN) return Error::from_errno("read");
  return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
}

Result<std::size_t> write_when_ready(int number, std::string_view bytes) {
  const std::size_t most = can_wait_for(number) ? std::size_t{PIPE_BUF} : bytes.size();
  ssize_t count = 0;
  do {
    count = ::write(number, bytes.data(), std::min(bytes.size(), most));
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno != EAGAIN) return Error::from_errno("write");
  return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
}

}  // namespace cordon::os
