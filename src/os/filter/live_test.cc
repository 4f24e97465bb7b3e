// SPDX-License-Identifier: Apache-2.0
// The programs in the kernel: a handful of calls each, and what every program does all the time.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <linux/sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>

#include <gtest/gtest.h>

#include "os/filter/filter.h"
#include "os/prctl.h"
#include "os/seccomp.h"
#include "os/seccomp_model.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

std::string load_here(FilterProfile profile) {
  if (const auto done = set_no_new_privs(); !done) return outcome(done);
  return outcome(seccomp_load(filter_program(profile)));
}

// Until the process ends.
void let_all_go_on(int listener_number) {
  const Fd listener{listener_number};
  for (;;) {
    if (const auto call = seccomp_receive(listener)) {
      (void)seccomp_respond_continue(listener, call->id);
    }
  }
}

class LiveFilter : public testing::TestWithParam<FilterProfile> {
 protected:
  // Runs `act` in a child under the filter; a listener, where the filter needs one, lets all go on.
  template <class Act>
  std::string under(Act act) const {
    const FilterProfile profile = GetParam();
    return in_child([&]() -> std::string {
      if (!has_notify(profile)) {
        const std::string loaded = load_here(profile);
        return loaded == "ok" ? act() : loaded;
      }
      if (const auto done = set_no_new_privs(); !done) return outcome(done);
      // The filter binds the thread that acts, not the one that answers.
      auto handed = pipe2();
      if (!handed) return outcome(handed);
      std::string said;
      std::thread acting{[&] {
        auto listener = seccomp_load_with_listener(filter_program(profile));
        const int number = listener ? listener->release() : -1;
        const Status told =
            write_all(handed->write, {reinterpret_cast<const char*>(&number), sizeof number});
        said = told && number >= 0 ? act() : "no listener";
      }};
      int number = -1;
      if (::read(handed->read.get(), &number, sizeof number) != sizeof number || number < 0) {
        acting.join();
        return said;
      }
      std::thread{let_all_go_on, number}.detach();
      acting.join();
      return said;
    });
  }
};

std::string said_by(long result) { return result >= 0 ? "ok" : strerrorname_np(errno); }

struct LiveCase {
  const char* what;
  long call;
  CallArguments arguments;
  const char* expected;
};

TEST_P(LiveFilter, AnswersInsteadOfTheKernel) {
  // With arguments by which the kernel would say something else.
  const LiveCase cases[] = {
      {"mount", SYS_mount, {}, "EPERM"},
      {"umount2", SYS_umount2, {}, "EPERM"},
      {"open_tree", SYS_open_tree, {}, "EPERM"},
      {"setns", SYS_setns, {~0ULL}, "EPERM"},
      {"unshare", SYS_unshare, {CLONE_NEWUSER | (1ULL << 40U)}, "EPERM"},
      {"clone3", SYS_clone3, {}, "ENOSYS"},
      {"clone NEWUSER", SYS_clone, {CLONE_NEWUSER | SIGCHLD}, "EPERM"},
      {"bpf", SYS_bpf, {~0ULL}, "EPERM"},
      {"perf_event_open", SYS_perf_event_open, {}, "EPERM"},
      {"userfaultfd", SYS_userfaultfd, {1}, "EPERM"},
      {"keyctl", SYS_keyctl, {0, ~0ULL - 3}, "EPERM"},
      {"io_uring_setup", SYS_io_uring_setup, {}, "ENOSYS"},
      {"kcmp", SYS_kcmp, {}, "EPERM"},
      {"ptrace", SYS_ptrace, {~0ULL}, "EPERM"},
      {"open_by_handle_at", SYS_open_by_handle_at, {}, "EPERM"},
      {"socket AF_VSOCK", SYS_socket, {40, SOCK_STREAM}, "EAFNOSUPPORT"},
      {"socket AF_ALG", SYS_socket, {38, SOCK_SEQPACKET}, "EAFNOSUPPORT"},
      {"socket NETLINK_NETFILTER", SYS_socket, {AF_NETLINK, SOCK_RAW, 12}, "EPROTONOSUPPORT"},
      {"socket SCTP", SYS_socket, {AF_INET, SOCK_STREAM, 132}, "EPROTONOSUPPORT"},
      {"ioctl TIOCSTI", SYS_ioctl, {~0ULL, 0x5412 | (1ULL << 35U)}, "EPERM"},
      {"ioctl unknown", SYS_ioctl, {~0ULL, 0x1234}, "ENOTTY"},
      {"mknod block", SYS_mknodat, {~0ULL, 0, 0060600, 0x800}, "EPERM"},
      {"personality", SYS_personality, {0x0040000}, "EPERM"},
      {"prctl unknown", SYS_prctl, {67, 1}, "EINVAL"},
      {"prlimit64 of another", SYS_prlimit64, {1}, "EPERM"},
      {"unknown call", 600, {}, "ENOSYS"},
      {"x32 getpid", SYS_getpid | 0x40000000, {}, "ENOSYS"},
      {"getpid", SYS_getpid, {}, "ok"},
      {"socket TCP", SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0}, "ok"},
  };
  const std::string said = under([&] {
    std::string wrong;
    for (const LiveCase& c : cases) {
      const auto& a = c.arguments;
      const std::string got = said_by(::syscall(c.call, a[0], a[1], a[2], a[3], a[4], a[5]));
      if (got != c.expected) wrong += std::string{c.what} + ": " + got + "; ";
    }
    return wrong;
  });
  EXPECT_EQ(said, "");
}

TEST_P(LiveFilter, LetsThreadsForksAndProgramsStart) {
  EXPECT_EQ(under([]() -> std::string {
              int made = 0;
              std::thread{[&] { made = 1; }}.join();
              if (made != 1) return "thread";
              const pid_t child = ::fork();
              if (child == 0) ::_exit(7);
              int status = 0;
              if (::waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) return "fork";
              pid_t started = 0;
              const char* const argv[] = {"true", nullptr};
              // vfork and exec.
              if (::posix_spawnp(&started, "true", nullptr, nullptr, const_cast<char**>(argv),
                                 nullptr) != 0) {
                return "posix_spawnp";
              }
              if (::waitpid(started, &status, 0) != started || status != 0) return "true";
              return "ok";
            }),
            "ok");
}

TEST_P(LiveFilter, LetsFilesBeWritten) {
  TempDir dir;
  EXPECT_EQ(under([&]() -> std::string {
              const auto file = openat(dir.fd(), "f", O_RDWR | O_CREAT, 0600);
              if (!file) return outcome(file);
              if (const auto done = write_all(*file, "x"); !done) return outcome(done);
              if (::fchmod(file->get(), 0640) != 0) return "fchmod";
              const int set_id = ::fchmod(file->get(), 04755) == 0 ? 0 : errno;
              if (::unlinkat(dir.fd().get(), "f", 0) != 0) return "unlinkat";
              return set_id == 0 ? "set-id" : strerrorname_np(set_id);
            }),
            has_nosetid(GetParam()) ? "EPERM" : "set-id");
}

// A new pty made the controlling terminal, as a spawner does it.
TEST_P(LiveFilter, LetsASpawnerMakeATerminal) {
  EXPECT_EQ(under([]() -> std::string {
              const pid_t child = ::fork();
              if (child == 0) {
                const int master = ::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
                const int unlock = 0;
                unsigned name = 0;
                if (master < 0) ::_exit(1);
                if (::setsid() < 0) ::_exit(2);
                if (::ioctl(master, TIOCSPTLCK, &unlock) != 0) ::_exit(3);
                if (::ioctl(master, TIOCGPTN, &name) != 0) ::_exit(4);
                const int slave = ::ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
                if (slave < 0) ::_exit(5);
                if (::ioctl(slave, TIOCSCTTY, 0) != 0) ::_exit(6);
                ::_exit(0);
              }
              int status = 0;
              if (::waitpid(child, &status, 0) != child) return "waitpid";
              return std::to_string(status);
            }),
            "0");
}

#if defined(__x86_64__)
long old_getpid() {
  long result = 20;
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result;
}

// C100.
TEST_P(LiveFilter, KillsCallsOfTheOldArchitecture) {
  const auto act = [] { return old_getpid() == ::getpid() ? "pid" : "other"; };
  if (in_child([&]() -> std::string { return act(); }) != "pid") {
    GTEST_SKIP() << "the kernel has no 32-bit calls";
  }
  EXPECT_EQ(in_child([&]() -> std::string {
              const std::string loaded = load_here(GetParam());
              return loaded == "ok" ? act() : loaded;
            }),
            "signal " + std::to_string(SIGSYS));
}
#endif

// Pid 1's filter below a workload's: what the upper one allows still works, its errno is the one
// that is seen. Nothing here waits for a listener.
TEST_P(LiveFilter, StacksOnInit) {
  EXPECT_EQ(in_child([&]() -> std::string {
              for (const FilterProfile profile : {FilterProfile::init, GetParam()}) {
                if (const std::string loaded = load_here(profile); loaded != "ok") return loaded;
              }
              int made = 0;
              std::thread{[&] { made = 1; }}.join();
              if (made != 1) return "thread";
              return said_by(::syscall(SYS_mount, 0, 0, 0, 0, 0));
            }),
            "EPERM");
}

std::string test_name(const testing::TestParamInfo<FilterProfile>& info) {
  std::string name{to_string(info.param)};
  std::ranges::replace(name, '+', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Profiles, LiveFilter, testing::ValuesIn(kFilterProfiles), test_name);

// Of pid 1: it hands out a listener of a workload filter, and what is behind it.
TEST(LiveInitFilter, LetsAListenerBeMadeOnTopOfIt) {
  EXPECT_EQ(
      in_child([]() -> std::string {
        if (const std::string loaded = load_here(FilterProfile::init); loaded != "ok") {
          return loaded;
        }
        return outcome(seccomp_load_with_listener(filter_program(FilterProfile::strict_notify)));
      }),
      "ok");
}

TEST(LiveFilterTime, IsPrinted) {
  for (const FilterProfile profile :
       {FilterProfile::strict, FilterProfile::compat_nosetid_notify}) {
    const std::string said = in_child([&]() -> std::string {
      if (const auto done = set_no_new_privs(); !done) return outcome(done);
      const auto begin = std::chrono::steady_clock::now();
      const auto done = seccomp_load(filter_program(profile));
      const auto took = std::chrono::steady_clock::now() - begin;
      if (!done) return outcome(done);
      return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    });
    std::cout << to_string(profile) << ": loaded in " << said << " us\n";
    EXPECT_EQ(said.find_first_not_of("0123456789"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace cordon::os
