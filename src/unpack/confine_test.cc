// SPDX-License-Identifier: Apache-2.0
// What is refused once the steps are taken, each beside the same act before; and that an archive is
// still read.
#include "unpack/confine.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/test_support.h"
#include "unpack/made_archive_test.h"

namespace cordon::unpack {
namespace {

constexpr int kActs = 7;

// A bit for each act that was refused with EPERM.
unsigned refused(pid_t self) {
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
        return ::syscall(SYS_unshare, 0);
      case 4:
        return ::syscall(SYS_kill, self, 0);
      case 5:
        return ::syscall(SYS_unlinkat, AT_FDCWD, "/nowhere", 0);
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

TEST(ConfineUnpack, LeavesNothingButReadingAndWriting) {
  const std::string said = os::in_child([]() -> std::string {
    const pid_t self = ::getpid();
    if (const unsigned before = refused(self); before != 0) {
      return "refused before: " + std::to_string(before);
    }
    if (const Status confined = confine(); !confined) return confined.error().text();
    const bool shut = refused(self) == (1U << kActs) - 1;
    const auto gzip = written({frame::ArchiveEntry{.path = "f", .size = 2},
                               frame::ArchiveData{.offset = 0, .bytes = "hi"}, frame::ArchiveEnd{}},
                              Packing::gzip);
    const bool works = gzip && read_back(*gzip).ended;
    // What the child would say it would say over a descriptor that is closed by now.
    ::syscall(SYS_exit_group, shut && works ? 40 : 41);
    return {};
  });
  EXPECT_EQ(said, "exit 40");
}

}  // namespace
}  // namespace cordon::unpack
