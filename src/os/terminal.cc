// SPDX-License-Identifier: Apache-2.0
// Terminal calls, kept clear of SIGTTOU.
#include "os/terminal.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/file.h"

namespace cordon::os {
namespace {

// For its life SIGTTOU does not reach this thread: the kernel then lets a background process act.
class NoTtou {
 public:
  NoTtou() noexcept {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  NoTtou(const NoTtou&) = delete;
  NoTtou& operator=(const NoTtou&) = delete;
  ~NoTtou() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

bool is_terminal(const Fd& fd) noexcept { return ::isatty(fd.get()) == 1; }

bool operator==(const TerminalAttributes& a, const TerminalAttributes& b) noexcept {
  return a.kernel.c_iflag == b.kernel.c_iflag && a.kernel.c_oflag == b.kernel.c_oflag &&
         a.kernel.c_cflag == b.kernel.c_cflag && a.kernel.c_lflag == b.kernel.c_lflag &&
         std::ranges::equal(a.kernel.c_cc, b.kernel.c_cc);
}

Result<TerminalAttributes> terminal_attributes(const Fd& terminal) {
  TerminalAttributes attributes;
  if (::tcgetattr(terminal.get(), &attributes.kernel) != 0) return Error::from_errno("tcgetattr");
  return attributes;
}

TerminalAttributes raw(TerminalAttributes attributes) noexcept {
  ::cfmakeraw(&attributes.kernel);
  attributes.kernel.c_cc[VMIN] = 1;
  attributes.kernel.c_cc[VTIME] = 0;
  return attributes;
}

Status set_terminal_attributes(const Fd& terminal, const TerminalAttributes& attributes) {
  const NoTtou held;
  int result = 0;
  do {
    result = ::tcsetattr(terminal.get(), TCSANOW, &attributes.kernel);
  } while (result != 0 && errno == EINTR);
  if (result != 0) return Error::from_errno("tcsetattr");
  return {};
}

Result<WindowSize> window_size(const Fd& terminal) {
  winsize size{};
  if (::ioctl(terminal.get(), TIOCGWINSZ, &size) != 0) return Error::from_errno("TIOCGWINSZ");
  return WindowSize{size.ws_row, size.ws_col, size.ws_xpixel, size.ws_ypixel};
}

Status set_window_size(const Fd& terminal, const WindowSize& size) {
  const winsize kernel{size.rows, size.columns, size.width, size.height};
  if (::ioctl(terminal.get(), TIOCSWINSZ, &kernel) != 0) return Error::from_errno("TIOCSWINSZ");
  return {};
}

Result<std::optional<pid_t>> foreground_group(const Fd& terminal) {
  const pid_t group = ::tcgetpgrp(terminal.get());
  if (group >= 0) return std::optional{group};
  if (errno == ENOTTY && is_terminal(terminal)) return std::optional<pid_t>{};
  return Error::from_errno("tcgetpgrp");
}

Status set_foreground_group(const Fd& terminal, pid_t group) {
  const NoTtou held;
  if (::tcsetpgrp(terminal.get(), group) != 0) return Error::from_errno("tcsetpgrp");
  return {};
}

bool in_foreground(const Fd& terminal) noexcept {
  const pid_t group = ::tcgetpgrp(terminal.get());
  if (group < 0) return errno == ENOTTY && is_terminal(terminal);
  return group == ::getpgrp();
}

Status flush_input(const Fd& terminal) {
  const NoTtou held;
  if (::tcflush(terminal.get(), TCIFLUSH) != 0) return Error::from_errno("tcflush");
  return {};
}

Result<Pty> open_pty(const WindowSize& size) {
  TRY(Fd master, openat(at_cwd(), "/dev/ptmx", O_RDWR));
  const int locked = 0;
  if (::ioctl(master.get(), TIOCSPTLCK, &locked) != 0) return Error::from_errno("TIOCSPTLCK");
  Fd slave{::ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)};
  if (!slave) return Error::from_errno("TIOCGPTPEER");
  TRY_DO(set_window_size(master, size));
  return Pty{std::move(master), std::move(slave)};
}

Status make_controlling_terminal(const Fd& terminal) {
  if (::ioctl(terminal.get(), TIOCSCTTY, 0) != 0) return Error::from_errno("TIOCSCTTY");
  return {};
}

}  // namespace cordon::os
