// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.h"

#include <signal.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/process.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

constexpr WindowSize kWindow{24, 80, 0, 0};

TEST(Terminal, APipeIsNone) {
  const auto pipe = pipe2();
  ASSERT_TRUE(pipe);
  EXPECT_FALSE(is_terminal(pipe->read));
  EXPECT_FALSE(terminal_attributes(pipe->read));
  EXPECT_FALSE(window_size(pipe->read));
  EXPECT_FALSE(foreground_group(pipe->read));
  EXPECT_FALSE(in_foreground(pipe->read));
}

TEST(Terminal, APtyHasTheSizeItWasGivenOnBothEnds) {
  const auto pty = open_pty({30, 100, 7, 9});
  ASSERT_TRUE(pty) << pty.error().text();
  EXPECT_TRUE(is_terminal(pty->slave));
  EXPECT_EQ(*window_size(pty->master), (WindowSize{30, 100, 7, 9}));
  ASSERT_TRUE(set_window_size(pty->master, kWindow));
  EXPECT_EQ(*window_size(pty->slave), kWindow);
}

TEST(Terminal, RawPassesControlCAsAByteAndCookedAttributesComeBackEqual) {
  const auto pty = open_pty(kWindow);
  ASSERT_TRUE(pty);
  const auto cooked = terminal_attributes(pty->slave);
  ASSERT_TRUE(cooked);
  ASSERT_TRUE(set_terminal_attributes(pty->slave, raw(*cooked)));
  EXPECT_FALSE(*terminal_attributes(pty->slave) == *cooked);
  ASSERT_TRUE(write_all(pty->master, "\x03"));
  char byte = 0;
  ASSERT_EQ(::read(pty->slave.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 3);
  ASSERT_TRUE(set_terminal_attributes(pty->slave, *cooked));
  EXPECT_TRUE(*terminal_attributes(pty->slave) == *cooked);
}

TEST(Terminal, FlushedInputIsNeverRead) {
  const auto pty = open_pty(kWindow);
  ASSERT_TRUE(pty);
  ASSERT_TRUE(set_terminal_attributes(pty->slave, raw(*terminal_attributes(pty->slave))));
  ASSERT_TRUE(set_nonblocking(pty->slave, true));
  ASSERT_TRUE(write_all(pty->master, "rm -rf /\n"));
  ASSERT_TRUE(flush_input(pty->slave));
  char byte = 0;
  EXPECT_EQ(::read(pty->slave.get(), &byte, 1), -1);
  EXPECT_EQ(errno, EAGAIN);
}

// In a session of its own, whose leader holds the terminal.
TEST(Terminal, ABackgroundGroupKnowsThatItIsOneAndIsNotStoppedByAChange) {
  const std::string said = in_child([]() -> std::string {
    ::setsid();
    // Closing the master hangs up its session, which is this process.
    if (::signal(SIGHUP, SIG_IGN) == SIG_ERR) return "SIGHUP cannot be ignored";
    const auto pty = open_pty(kWindow);
    if (!pty) return pty.error().text();
    if (!in_foreground(pty->slave)) return "a terminal of nobody counts as background";
    const Status taken = make_controlling_terminal(pty->slave);
    if (!taken) return taken.error().text();
    if (!in_foreground(pty->slave)) return "the leader is not in the foreground";
    auto child = Child::start({}, [&] {
      ::setpgid(0, 0);
      if (in_foreground(pty->slave)) return 1;
      return set_terminal_attributes(pty->slave, *terminal_attributes(pty->slave)) ? 0 : 2;
    });
    if (!child) return child.error().text();
    const auto ended = std::move(*child).wait();
    return ended ? to_string(*ended) : ended.error().text();
  });
  EXPECT_EQ(said, "exit 0");
}

}  // namespace
}  // namespace cordon::os
