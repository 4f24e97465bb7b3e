// SPDX-License-Identifier: Apache-2.0
#include "os/process.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/cgroup.h"
#include "os/cgroup_layout.h"
#include "os/cgroup_test_support.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

int wait_for_ever() {
  while (true) ::pause();
}

TEST(Process, ChildsExitCodeComesBack) {
  auto child = Child::start({}, [] { return 5; });
  ASSERT_TRUE(child) << child.error().text();
  const auto ended = (*std::move(child)).wait();
  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_EQ(to_string(*ended), "exit 5");
}

TEST(Process, OwnersEndKillsAndReapsTheChild) {
  pid_t pid = 0;
  {
    const auto child = Child::start({}, wait_for_ever);
    ASSERT_TRUE(child);
    pid = child->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Process, PidfdTellsTheEndOfTheChild) {
  const auto child = Child::start({}, wait_for_ever);
  ASSERT_TRUE(child);
  pollfd poll{.fd = child->pidfd().get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&poll, 1, 0), 0);
  ASSERT_TRUE(child->signal(SIGTERM));
  EXPECT_EQ(::poll(&poll, 1, 5000), 1);
}

TEST(Process, ChildStartsInNewNamespaces) {
  const auto child_pid_in = [](NsSet namespaces) -> Result<int> {
    TRY(auto child,
        Child::start({.namespaces = namespaces}, [] { return ::getpid() == 1 ? 1 : 2; }));
    TRY(const auto ended, std::move(child).wait());
    return ended.value;
  };
  const auto inside = child_pid_in({Ns::user, Ns::pid});
  if (!inside) GTEST_SKIP() << "no user namespaces: " << inside.error().text();
  EXPECT_EQ(*inside, 1);
  EXPECT_EQ(*child_pid_in({}), 2);
}

TEST(Process, ChildStartsInItsCgroup) {
  const auto trees = read_cgroup_trees();
  ASSERT_TRUE(trees);
  if (trees->v2() == nullptr) GTEST_SKIP() << "no cgroup2 mount";
  const auto top = openat(at_cwd(), trees->v2()->mount.path.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_TRUE(top);
  const auto group = Cgroup::create(*top, unique_group_name(), {});
  if (!group) GTEST_SKIP() << "may make no group: " << group.error().text();
  const auto child = Child::start({.cgroup = &group->dir()}, wait_for_ever);
  ASSERT_TRUE(child) << child.error().text();
  EXPECT_EQ(*group->processes(), std::vector<pid_t>{child->pid()});
}

TEST(Process, CloseFromLeavesNothingAbove) {
  EXPECT_EQ(in_child([]() -> std::string {
              const int high = ::fcntl(0, F_DUPFD_CLOEXEC, 200);
              if (high < 0) return "dup";
              if (const auto done = close_from(200); !done) return outcome(done);
              return ::fcntl(high, F_GETFD) < 0 && errno == EBADF ? "closed" : "open";
            }),
            "closed");
}

TEST(Process, SetCloexecFromMarksWhatIsAbove) {
  EXPECT_EQ(in_child([]() -> std::string {
              const int high = ::fcntl(0, F_DUPFD, 200);  // NOLINT(android-cloexec-dup): the point
              if (::fcntl(high, F_GETFD) != 0) return "marked before";
              if (const auto done = set_cloexec_from(200); !done) return outcome(done);
              return ::fcntl(high, F_GETFD) == FD_CLOEXEC ? "marked" : "not marked";
            }),
            "marked");
}

std::string printed_by(const std::function<Error()>& exec) {
  auto said = pipe2();
  if (!said) return outcome(said);
  auto child = Child::start({}, [&] {
    ::dup2(said->write.get(), 1);
    return exec().cause().value();
  });
  if (!child) return outcome(child);
  said->write = Fd{};
  const auto text = read_all(said->read, 1000);
  const auto ended = (*std::move(child)).wait();
  if (!text || !ended || !ended->success()) return ended ? to_string(*ended) : outcome(ended);
  return *text;
}

TEST(Process, ExecPassesArgumentsAndExactlyTheEnvironmentGiven) {
  const std::vector<std::string> show{"sh", "-c", "echo $0:$A:$HOME", "zero"};
  const std::vector<std::string> environment{"A=1"};
  EXPECT_EQ(printed_by([&] { return execve("/bin/sh", show, environment); }), "zero:1:\n");
  const auto shell = openat(at_cwd(), "/bin/sh", O_PATH);
  ASSERT_TRUE(shell);
  EXPECT_EQ(printed_by([&] { return execveat(*shell, show, environment); }), "zero:1:\n");
  EXPECT_EQ(printed_by([&] { return execve("/absent", show, environment); }),
            "exit " + std::to_string(ENOENT));
}

}  // namespace
}  // namespace cordon::os
