// SPDX-License-Identifier: Apache-2.0
// A guest without namespaces, as a child of the test, and its host.
#pragma once

#include <cerrno>
#include <chrono>
#include <linux/seccomp.h>
#include <memory>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "guest/guest.h"
#include "guest/test_host.h"
#include "os/prctl.h"
#include "os/seccomp.h"

namespace cordon::guest {

inline Result<std::span<const sock_filter>> find_for_tests(std::string_view name) {
  static constexpr sock_filter kAllow[] = {{BPF_RET | BPF_K, 0, 0, 0x7fff0000U}};
  if (name == "none-for-tests") return std::span<const sock_filter>{kAllow};
  return find_filter(name);
}

// wait4 fails with EPERM.
inline constexpr sock_filter kNoWait[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                                          {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_wait4},
                                          {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
                                          {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};

inline frame::Setup setup() {
  return {.ring = 64U << 10U,
          .fences = {.uid = ::getuid(), .gid = ::getgid(), .filter = "none-for-tests"},
          .disk = "/tmp"};
}

class Guest : public testing::Test {
 protected:
  // The guest begins; its first frame is `first`.
  void begin(const frame::Setup& first = setup(),
             std::chrono::milliseconds patience = std::chrono::seconds{30},
             std::chrono::milliseconds idle = std::chrono::seconds{2}, bool blind = false) {
    auto pair = os::socketpair(os::SocketType::stream);
    ASSERT_TRUE(pair);
    host = std::make_unique<TestHost>(std::move(pair->one));
    child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      host.reset();
      if (!os::set_no_new_privs() || !os::set_child_subreaper(true)) ::_exit(99);
      if (blind && !os::seccomp_load(kNoWait)) ::_exit(99);
      ::_exit(static_cast<int>(run(Control{std::move(pair->two)}, {.pid_namespace = false,
                                                                   .find_filter = find_for_tests,
                                                                   .patience = patience,
                                                                   .idle = idle})));
    }
    ASSERT_TRUE(host->send(first));
  }
  // The guest's exit code; the stream ends first where it must.
  int finish() {
    host->stream() = os::Fd{};
    return wait();
  }
  int wait() {
    int status = 0;
    if (::waitpid(std::exchange(child, 0), &status, 0) < 0) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  ~Guest() override {
    if (child > 0) {
      host->stream() = os::Fd{};
      wait();
    }
  }

  std::unique_ptr<TestHost> host;
  pid_t child = 0;
};

}  // namespace cordon::guest
