// SPDX-License-Identifier: Apache-2.0
// Real programs on a terminal of their own, relayed to the caller's.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "terminal/relay_test_support.h"

namespace cordon::terminal {
namespace {

// Nothing of the program is left on the caller's terminal.
void expect_clean(const Report& report) {
  EXPECT_TRUE(report.same_attributes);
  EXPECT_EQ(report.left_over, "");
}

class Relayed : public testing::Test {
 protected:
  Relayed() {
    std::string name = (std::filesystem::temp_directory_path() / "cordon-terminal-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) dir_ = name;
  }
  ~Relayed() override {
    // A server of tmux outlives its clients.
    if (std::filesystem::exists(dir_ / "tmux")) {
      auto end = os::Child::start(
          {}, [&] { return exec({"tmux", "-S", (dir_ / "tmux").string(), "kill-server"})(); });
      if (end) (void)std::move(*end).wait();
    }
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
  }
  std::filesystem::path dir_;
};

#define NEEDS(program) \
  if (find_program(program).empty()) GTEST_SKIP() << (program) << " is not installed"

TEST_F(Relayed, ControlCIsASignalInside) {
  Session session{relay(exec({"sh", "-c",
                              "trap 'echo caught; exit 7' INT; echo ready; "
                              "while :; do sleep 0.05; done"}))};
  ASSERT_TRUE(session.shows("ready"));
  session.type("\x03");
  EXPECT_TRUE(session.shows("caught"));
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 7");
  expect_clean(report);
}

TEST_F(Relayed, ANewSizeReachesTheProgram) {
  Session session{relay(exec({"sh", "-c",
                              "trap 'stty size; exit 0' WINCH; stty size; "
                              "while :; do sleep 0.05; done"}))};
  ASSERT_TRUE(session.shows("24 80"));
  session.resize({40, 132, 0, 0});
  EXPECT_TRUE(session.shows("40 132"));
  expect_clean(session.finish());
}

TEST_F(Relayed, AShellControlsItsJobs) {
  NEEDS("bash");
  Session session{relay(exec({"bash", "--norc", "--noprofile", "-i"}))};
  // It starts no process: one that is stopped between vfork and exec would hold its parent for
  // ever.
  session.type(
      "sh -c 'trap \"echo cau''ght; exit 9\" INT; trap \"echo resu''med\" CONT; echo go''ing; "
      "while :; do :; done'\n");
  ASSERT_TRUE(session.shows("going")) << session.shown();
  ASSERT_TRUE(session.provokes("\x1a", "Stopped")) << session.shown();
  session.type("fg\n");
  // The job's own word: before it, the terminal is the shell's, and Ctrl-C would throw fg away.
  ASSERT_TRUE(session.shows("resumed")) << session.shown();
  ASSERT_TRUE(session.provokes("\x03", "caught")) << session.shown();
  // 9, or 130 where a second Ctrl-C met it on its way out, and may have thrown away what was typed.
  EXPECT_TRUE(session.provokes("echo c''ode=$?\n", "code=")) << session.shown();
  session.type("exit 5\n");
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 5");
  EXPECT_EQ(report.stops, 0) << "Ctrl-Z is the inner shell's";
  expect_clean(report);
}

TEST_F(Relayed, APythonPromptAnswersAndIsInterrupted) {
  NEEDS("python3");
  Session session{relay(exec({"python3", "-q"}))};
  ASSERT_TRUE(session.shows(">>> "));
  session.type("6 * 7\n");
  EXPECT_TRUE(session.shows("42"));
  session.type("print('sl' + 'eeping') or __import__('time').sleep(1000)\n");
  EXPECT_TRUE(session.shows("sleeping"));
  EXPECT_TRUE(session.provokes("\x03", "KeyboardInterrupt")) << session.shown();
  session.type("exit(4)\n");
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 4");
  expect_clean(report);
}

TEST_F(Relayed, LessPagesAndGivesTheScreenBack) {
  NEEDS("less");
  std::ofstream file{dir_ / "lines"};
  for (int i = 1; i <= 500; ++i) file << "line number " << i << '\n';
  file.close();
  Session session{relay(exec({"less", (dir_ / "lines").string()}))};
  ASSERT_TRUE(session.shows("line number 1"));
  session.type("G");
  EXPECT_TRUE(session.shows("line number 500"));
  session.type("q");
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 0");
  EXPECT_TRUE(session.shown().find("\x1b[?1049l") != std::string::npos);
  expect_clean(report);
}

TEST_F(Relayed, VimEditsAFile) {
  NEEDS("vim");
  const auto path = dir_ / "text";
  Session session{relay(exec({"vim", "-u", "NONE", "-i", "NONE", "-n", "-N", path.string()}))};
  ASSERT_TRUE(session.shows("[New")) << session.shown();
  session.type("ihello from vim");
  EXPECT_TRUE(session.shows("vim"));
  session.type("\x1b");
  ::usleep(100'000);
  session.type(":wq\r");
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 0");
  expect_clean(report);
  std::ifstream file{path};
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>{file}, {}}), "hello from vim\n");
}

TEST_F(Relayed, TmuxDrawsAShellAndFollowsTheSize) {
  NEEDS("tmux");
  const std::string socket = (dir_ / "tmux").string();
  Session session{relay(
      exec({"tmux", "-S", socket, "-f", "/dev/null", "new-session", "PS1='prompt> ' exec sh"}))};
  ASSERT_TRUE(session.shows("prompt> ")) << session.shown();
  session.type("echo in''side\n");
  EXPECT_TRUE(session.shows("inside")) << session.shown();
  session.resize({30, 100, 0, 0});
  EXPECT_TRUE(session.provokes("stty size\n", "29 100")) << "less the status line";
  session.type("exit\n");
  EXPECT_TRUE(session.shows("[exited]"));
  const Report report = session.finish();
  EXPECT_EQ(report.ended, "exit 0");
  expect_clean(report);
}

TEST_F(Relayed, AHostileStreamChangesNoTitleAndNoClipboard) {
  Session session{relay(exec({"sh", "-c",
                              "printf '\\033]0;owned\\007\\033]52;c;b3duZWQ=\\007\\033P$qm\\033\\\\"
                              "\\005\\033[21t\\2335n'; echo still here"}))};
  EXPECT_TRUE(session.shows("still here"));
  expect_clean(session.finish());
  EXPECT_EQ(session.shown(), "5nstill here\r\n");
}

}  // namespace
}  // namespace cordon::terminal
