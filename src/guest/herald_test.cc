// SPDX-License-Identifier: Apache-2.0
// A herald signals the foreground of its terminal, as the keys would have.
#include "guest/herald.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/file.h"

namespace cordon::guest {
namespace {

struct HeraldTerminal {
  os::Fd master{::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)};
  std::string slave;
  HeraldTerminal() {
    int locked = 0;
    unsigned number = 0;
    if (::ioctl(master.get(), TIOCSPTLCK, &locked) == 0 &&
        ::ioctl(master.get(), TIOCGPTN, &number) == 0) {
      slave = "/dev/pts/" + std::to_string(number);
    }
  }
  void set(tcflag_t without) const {
    termios settings{};
    ASSERT_EQ(::tcgetattr(master.get(), &settings), 0);
    settings.c_lflag &= ~without;
    ASSERT_EQ(::tcsetattr(master.get(), TCSANOW, &settings), 0);
  }
};

// In a session with the terminal: a leader that ignores everything, and a child in the foreground
// that says so and waits.
[[noreturn]] void be_session(const HeraldTerminal& terminal, const os::Pipe& orders,
                             const os::Pipe& ready) {
  ::setsid();
  const os::Fd own{::open(terminal.slave.c_str(), O_RDWR | O_CLOEXEC)};
  if (!own || !make_herald(orders.read, terminal.slave)) ::_exit(98);
  static_cast<void>(::signal(SIGTTOU, SIG_IGN));
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    if (::tcsetpgrp(own.get(), ::getpid()) != 0) ::_exit(97);
    if (::write(ready.write.get(), "r", 1) != 1) ::_exit(96);
    while (true) ::pause();
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::_exit(WIFSIGNALED(status) ? WTERMSIG(status) : 95);
}

TEST(Herald, SignalsTheForegroundAloneAndEndsWithItsOrders) {
  const HeraldTerminal terminal;
  auto orders = os::pipe2();
  auto ready = os::pipe2();
  ASSERT_TRUE(orders && ready && !terminal.slave.empty());
  const pid_t leader = ::fork();
  if (leader == 0) {
    orders->write = os::Fd{};
    be_session(terminal, *orders, *ready);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready->read.get(), &byte, 1), 1);
  order(orders->write, SIGQUIT, Cause::key);
  int status = 0;
  ASSERT_EQ(::waitpid(leader, &status, 0), leader);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), SIGQUIT);
  std::array<char, 8> shown{};
  EXPECT_EQ(::read(terminal.master.get(), shown.data(), shown.size()), 2);
  EXPECT_EQ(std::string_view{shown.data()}, "^\\");
  order(orders->write, SIGINT, Cause::host);  // nobody is there any more
  orders->write = os::Fd{};
  const pid_t herald = ::waitpid(-1, &status, 0);  // the leader's sibling
  EXPECT_GT(herald, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Herald, TakesTheKeysThatTheTerminalHasAtThatMoment) {
  const HeraldTerminal terminal;
  const auto key = first_key(terminal.master, "ab\x03\x1c");
  ASSERT_TRUE(key);
  // NOLINTBEGIN(bugprone-unchecked-optional-access): asserted
  EXPECT_EQ(key->at, 2U);
  EXPECT_EQ(key->signal, SIGINT);
  EXPECT_EQ(first_key(terminal.master, "\x1a")->signal, SIGTSTP);
  EXPECT_EQ(first_key(terminal.master, "\x1c")->signal, SIGQUIT);
  // NOLINTEND(bugprone-unchecked-optional-access)
  EXPECT_FALSE(first_key(terminal.master, std::string_view{"a\0\x04", 3}));
  terminal.set(ISIG);
  EXPECT_FALSE(first_key(terminal.master, "\x03"));
}

TEST(Herald, IsNotNeededWhereTheKernelTellsTheForeground) {
  EXPECT_FALSE(needs_herald(HeraldTerminal{}.master));
}

}  // namespace
}  // namespace cordon::guest
