// SPDX-License-Identifier: Apache-2.0
#include "launcher/stop_signal.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cordon::launcher {
namespace {

// What a handler can reach is global. Set before the handler is, and never after.
volatile std::sig_atomic_t stopped_fd = -1;

void on_stop(int /*signal*/) {
  const int before = errno;
  constexpr std::uint64_t kOne = 1;
  if (::write(stopped_fd, &kOne, sizeof kOne) < 0) {
    // The count is full: it is readable already.
  }
  errno = before;
}

}  // namespace

Result<os::Fd> catch_stop_signals() {
  os::Fd stopped{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!stopped) return Error::from_errno("eventfd");
  stopped_fd = stopped.get();
  struct sigaction act{};
  act.sa_handler = on_stop;
  act.sa_flags = SA_RESTART;
  for (const int signal : std::array{SIGTERM, SIGINT}) {
    if (::sigaction(signal, &act, nullptr) != 0) return Error::from_errno("sigaction");
  }
  return stopped;
}

void forget_stop(const os::Fd& stopped) {
  std::uint64_t count = 0;
  if (::read(stopped.get(), &count, sizeof count) < 0) {
    // Nobody has asked.
  }
}

}  // namespace cordon::launcher
