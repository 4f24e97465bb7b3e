// SPDX-License-Identifier: Apache-2.0
#include "terminal/local_terminal.h"

#include <cerrno>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "terminal/relay_test_support.h"

namespace cordon::terminal {
namespace {

Program shell(std::string script) { return exec({"sh", "-c", std::move(script)}); }

TEST(LocalTerminal, RefusesWhatIsNoTerminal) {
  const auto pipe = os::pipe2();
  ASSERT_TRUE(pipe);
  const auto local = LocalTerminal::open(pipe->read);
  ASSERT_FALSE(local);
  EXPECT_EQ(local.error().code(), Errc::invalid);
}

TEST(LocalTerminal, DoesNotMakeTheShellsOpenFileNonblocking) {
  const auto pty = os::open_pty({24, 80, 0, 0});
  ASSERT_TRUE(pty);
  const auto local = LocalTerminal::open(pty->slave);
  ASSERT_TRUE(local) << local.error().text();
  EXPECT_EQ(::fcntl(pty->slave.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(local->fd().get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(LocalTerminal, IsRawBetweenEnteringAndTheEndOfItsLife) {
  const auto pty = os::open_pty({24, 80, 0, 0});
  ASSERT_TRUE(pty);
  const auto before = os::terminal_attributes(pty->slave);
  {
    auto local = LocalTerminal::open(pty->slave);
    ASSERT_TRUE(local);
    ASSERT_TRUE(local->enter());
    LocalTerminal moved{*std::move(local)};
    EXPECT_TRUE(*os::terminal_attributes(pty->slave) == os::raw(*before));
  }
  EXPECT_TRUE(*os::terminal_attributes(pty->slave) == *before);
}

TEST(LocalTerminal, InTheBackgroundRefusesToEnterAndIsNotStopped) {
  Session session{[](const os::Fd& terminal) {
                    auto local = LocalTerminal::open(terminal);
                    if (!local) return 1;
                    const Status entered = local->enter();
                    if (entered) return 2;
                    return entered.error().code() == Errc::unavailable ? 0 : 3;
                  },
                  {.foreground = false}};
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 0");
  EXPECT_EQ(report.stops, 0);
  EXPECT_TRUE(report.same_attributes);
}

// Enters, leaves modes on, says so, says when something was typed, and waits for its end.
int wait_entered(const os::Fd& terminal) {
  auto local = LocalTerminal::open(terminal);
  if (!local || !local->enter()) return 1;
  EscapeFilter filter;
  std::string out;
  filter.feed("\x1b[?1049h\x1b[?1003h\x1b[?25lentered", out);
  local->follow(filter);
  (void)os::write_all(local->fd(), out);
  pollfd typed{.fd = local->fd().get(), .events = POLLIN, .revents = 0};
  if (::poll(&typed, 1, -1) == 1) (void)os::write_all(local->fd(), "typed");
  while (true) ::pause();
}

TEST(LocalTerminal, IsPutBackWhenASignalThatNobodyHandlesEndsUs) {
  for (const int number : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGUSR1}) {
    Session session{wait_entered};
    ASSERT_TRUE(session.shows("entered"));
    session.type("never read");
    ASSERT_TRUE(session.shows("typed"));  // what comes when the terminal is put back is echoed
    ::kill(session.job(), number);
    const Report report = session.finish();
    EXPECT_EQ(report.ended, fmt::format("signal {}", number)) << "it ends as it would have";
    EXPECT_TRUE(report.same_attributes) << number;
    EXPECT_EQ(report.left_over, "") << number;
    EXPECT_TRUE(session.shown().ends_with("\x1b[?25h\x1b[?1003l\x1b[?1049l")) << number;
  }
}

TEST(LocalTerminal, IsLeftRawByAKillWhichTheseTestsDoNotice) {
  Session session{wait_entered};
  ASSERT_TRUE(session.shows("entered"));
  ::kill(session.job(), SIGKILL);
  EXPECT_FALSE(session.finish().same_attributes);
}

TEST(LocalTerminal, IsPutBackWhenTheProgramIsKilled) {
  Session session{
      relay(shell("stty raw -echo; printf '\\033[?1049h\\033[?2004h\\033[>1u'; "
                  "echo pid=$$.; kill -9 $$"))};
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 137");
  EXPECT_TRUE(report.same_attributes);
  EXPECT_TRUE(session.shown().ends_with("\x1b[?2004l\x1b[<1u\x1b[?1049l")) << session.shown();
}

TEST(LocalTerminal, IsPutBackWhenTheRelayIsTerminated) {
  Session session{relay(shell("printf '\\033[?1000hready'; sleep 100"))};
  ASSERT_TRUE(session.shows("ready"));
  ::kill(session.job(), SIGTERM);
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 143");
  EXPECT_TRUE(report.same_attributes);
  EXPECT_TRUE(session.shown().ends_with("\x1b[?1000l"));
}

TEST(LocalTerminal, AfterAStopIsRawAgainAndTellsItsNewSize) {
  Session session{
      relay(shell("trap 'stty size' WINCH; trap 'echo interrupted; exit 3' INT; "
                  "echo ready; while :; do sleep 0.05; done"))};
  ASSERT_TRUE(session.shows("ready"));
  ::kill(session.job(), SIGSTOP);
  session.resize({50, 120, 0, 0});
  EXPECT_TRUE(session.shows("50 120"));
  session.type("\x03");
  EXPECT_TRUE(session.shows("interrupted"));
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 3") << "the byte reached the program, not us";
  EXPECT_EQ(report.stops, 1);
  EXPECT_TRUE(report.same_attributes);
}

constexpr std::string_view kAsksAndEnds = "printf '\\033[6n\\033[c\\033[>c'";

TEST(LocalTerminal, LeavesNoAnswerOfTheTerminalToTheShell) {
  for (const int late : {0, 40}) {
    Session session{relay(shell(std::string{kAsksAndEnds})),
                    {.answers_after = std::chrono::milliseconds{late}}};
    const Report report = session.finish();
    EXPECT_EQ(report.ended, "exit 0");
    EXPECT_EQ(report.left_over, "") << late;
  }
  Session bare{directly(shell(std::string{kAsksAndEnds}))};
  EXPECT_NE(bare.finish().left_over, "") << "without us it would read them";
}

TEST(LocalTerminal, LeavesNoAnswerEvenWhenTheProgramAskedOurOwnQuestion) {
  Session session{relay(shell("printf '\\033[5n\\033[6n\\033[5n\\033[c'")),
                  {.answers_after = std::chrono::milliseconds{20}}};
  EXPECT_EQ(session.finish().left_over, "");
}

// Types a command into the terminal that the program itself has.
int inject() {
  for (const char c : std::string_view{"injected\n"}) {
    if (::ioctl(0, TIOCSTI, &c) != 0) return errno == EIO || errno == EPERM ? 77 : 1;
  }
  return 0;
}

TEST(LocalTerminal, ReceivesNothingThatIsInjectedIntoTheProgramsTerminal) {
  Session session{relay(inject)};
  const Report report = session.finish();
  if (report.ended == "exit 77") GTEST_SKIP() << "this kernel lets nobody inject";
  EXPECT_EQ(report.ended, "exit 0");
  EXPECT_EQ(report.left_over, "");
  Session bare{directly(inject)};
  EXPECT_EQ(bare.finish().left_over, "injected\n") << "without us the shell would run it";
}

TEST(LocalTerminal, OutlivesASignalToTheProgramsWholeGroup) {
  Session session{relay([] {
    ::kill(0, SIGTERM);
    return 0;
  })};
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 143") << "told by the relay, which lives";
  EXPECT_TRUE(report.same_attributes);
}

}  // namespace
}  // namespace cordon::terminal
