// SPDX-License-Identifier: Apache-2.0
#include "guest/herald.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

#include <climits>

namespace cordon::guest {
namespace {

constexpr unsigned kByKey = 0x80;
constexpr std::array kKeys{std::pair{VINTR, SIGINT}, std::pair{VQUIT, SIGQUIT},
                           std::pair{VSUSP, SIGTSTP}};

// As the line discipline of Linux shows a key that is taken away: ^C.
void echo(const os::Fd& terminal, int signal) {
  termios settings{};
  if (::tcgetattr(terminal.get(), &settings) != 0) return;
  if ((settings.c_lflag & ECHO) == 0 || (settings.c_lflag & ECHOCTL) == 0) return;
  for (const auto& [key, sent] : kKeys) {
    const std::array shown{'^', static_cast<char>(settings.c_cc[key] ^ 0x40U)};
    if (sent == signal) static_cast<void>(::write(terminal.get(), shown.data(), 2) < 0);
  }
}

// The terminal is opened for each order and closed: held open it would never end for pid 1.
void carry_out(unsigned order, const std::string& slave) {
  const os::Fd terminal{::open(slave.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC)};
  const pid_t foreground = terminal ? ::tcgetpgrp(terminal.get()) : 0;
  const auto signal = static_cast<int>(order & ~kByKey);
  if ((order & kByKey) != 0) echo(terminal, signal);
  if (foreground > 1) ::kill(-foreground, signal);
}

[[noreturn]] void be_herald(int inherited, const std::string& slave) {
  // Signals for all are not for it, and its own group is never in the foreground.
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  if (::setpgid(0, 0) != 0 || ::dup2(inherited, 0) != 0) ::_exit(1);
  ::syscall(SYS_close_range, 1U, INT_MAX, 0U);
  while (true) {
    unsigned char order = 0;
    const ssize_t count = ::read(0, &order, 1);
    if (count == 1) {
      carry_out(order, slave);
    } else if (count == 0 || errno != EINTR) {
      ::_exit(0);
    }
  }
}

}  // namespace

bool needs_herald(const os::Fd& master) { return ::tcgetpgrp(master.get()) < 0 && errno == ENOTTY; }

Status make_herald(const os::Fd& orders, const std::string& slave) {
  const long child = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, 0UL);
  if (child < 0) return Error::from_errno("clone");
  if (child == 0) be_herald(orders.get(), slave);
  return {};
}

std::optional<Key> first_key(const os::Fd& master, std::string_view input) {
  termios settings{};
  if (::tcgetattr(master.get(), &settings) != 0 || (settings.c_lflag & ISIG) == 0) {
    return std::nullopt;
  }
  for (std::size_t at = 0; at < input.size(); ++at) {
    for (const auto& [key, signal] : kKeys) {
      const cc_t wanted = settings.c_cc[key];
      // Zero stands for no key.
      if (wanted != 0 && static_cast<cc_t>(input[at]) == wanted) return Key{at, signal};
    }
  }
  return std::nullopt;
}

void order(const os::Fd& orders, int signal, Cause cause) noexcept {
  const unsigned mark = cause == Cause::key ? kByKey : 0;
  const auto byte = static_cast<unsigned char>(static_cast<unsigned>(signal) | mark);
  static_cast<void>(::write(orders.get(), &byte, 1) < 0);
}

}  // namespace cordon::guest
