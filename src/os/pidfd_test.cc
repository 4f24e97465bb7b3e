// SPDX-License-Identifier: Apache-2.0
#include "os/pidfd.h"

#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace cordon::os {
namespace {

// A child that waits for a signal, or exits at once with `code`.
Fd start_child(std::optional<int> code) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (code) ::_exit(*code);
    while (true) ::pause();
  }
  auto pidfd = pidfd_open(child);
  return pidfd ? *std::move(pidfd) : Fd{};
}

TEST(Pidfd, WaitidGivesTheExitCode) {
  const Fd child = start_child(7);
  ASSERT_TRUE(child);
  const auto ended = waitid(child);
  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_EQ(to_string(*ended), "exit 7");
  EXPECT_FALSE(ended->success());
}

TEST(Pidfd, WaitidGivesTheSignalThatKilled) {
  const Fd child = start_child({});
  ASSERT_TRUE(pidfd_send_signal(child, SIGKILL));
  const auto ended = waitid(child);
  ASSERT_TRUE(ended);
  EXPECT_EQ(*ended, (ExitStatus{.kind = ExitStatus::Kind::signaled, .value = SIGKILL}));
}

TEST(Pidfd, TryWaitidSaysNothingWhileTheChildLives) {
  const Fd child = start_child({});
  const auto alive = try_waitid(child);
  ASSERT_TRUE(alive);
  EXPECT_FALSE(alive->has_value());
  ASSERT_TRUE(pidfd_send_signal(child, SIGTERM));
  ASSERT_TRUE(waitid(child));
}

TEST(Pidfd, SignalsNobodyOnceTheChildIsReaped) {
  const Fd child = start_child(0);
  EXPECT_TRUE(pidfd_send_signal(child, 0)) << "an unreaped child is still there";
  ASSERT_TRUE(waitid(child));
  const auto gone = pidfd_send_signal(child, SIGKILL);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), Errc::not_found);
  EXPECT_FALSE(waitid(child));
}

TEST(Pidfd, OpenRefusesAPidThatNobodyHas) {
  const auto none = pidfd_open(0x7FFFFFFF);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text(), "pid 2147483647: pidfd_open: No such process");
  const auto own = pidfd_open(::getpid());
  ASSERT_TRUE(own);
  EXPECT_NE(::fcntl(own->get(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace cordon::os
