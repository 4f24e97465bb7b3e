// SPDX-License-Identifier: Apache-2.0
// What is refused once the steps are taken, each beside the same act before.
#include "broker/confine.h"

#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/test_support.h"

namespace cordon::broker {
namespace {

constexpr int kActs = 8;

// A bit for each act that was refused with EPERM; `socket` is one made before, `self` our pid.
unsigned refused(int socket, pid_t self) {
  sockaddr_in nowhere{.sin_family = AF_INET};
  const char* const no_arguments[] = {nullptr};
  const auto act = [&](int which) -> long {
    switch (which) {
      case 0:
        return ::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY);
      case 1:
        return ::syscall(SYS_execve, "/nowhere", no_arguments, no_arguments);
      case 2:
        return ::syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
      case 3:
        return ::syscall(SYS_connect, socket, &nowhere, sizeof nowhere);
      case 4:
        return ::syscall(SYS_ptrace, PTRACE_PEEKDATA, 1, nullptr, nullptr);
      case 5:
        return ::syscall(SYS_unshare, 0);
      case 6:
        return ::syscall(SYS_kill, self, 0);
      default: {
        void* const at =
            ::mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return at == MAP_FAILED ? -1 : 0;
      }
    }
  };
  unsigned bits = 0;
  for (int which = 0; which < kActs; ++which) {
    errno = 0;
    if (act(which) < 0 && errno == EPERM) bits |= 1U << static_cast<unsigned>(which);
  }
  return bits;
}

TEST(Confine, LeavesNothingToOpenExecuteDialTraceOrSignal) {
  const std::string said = os::in_child([]() -> std::string {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const pid_t self = ::getpid();
    // Tracing pid 1 without being its tracer gives ESRCH; the rest works or fails in its own way.
    if (const unsigned before = refused(socket, self); before != 0) {
      return "refused before: " + std::to_string(before);
    }
    if (const Status confined = confine(); !confined) return confined.error().text();
    // Nothing can be said any more: writing is not on the list. Nor would a sanitizer find what it
    // asks for on the way through _exit.
    ::syscall(SYS_exit_group, refused(socket, self) == (1U << kActs) - 1 ? 40 : 41);
    return {};
  });
  EXPECT_EQ(said, "exit 40");
}

}  // namespace
}  // namespace cordon::broker
