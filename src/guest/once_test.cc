// SPDX-License-Identifier: Apache-2.0
// A program is started once, in whatever order pid 1 hears of it and of others.
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "guest/guest_rig_test.h"
#include "os/file.h"
#include "os/test_support.h"

namespace cordon::guest {
namespace {

std::string& gate() {
  static std::string path;
  return path;
}

// A spawner goes on behind its filter when the gate is there.
Result<std::span<const sock_filter>> find_behind_gate(std::string_view name) {
  while (::access(gate().c_str(), F_OK) != 0) ::usleep(1000);
  return find_for_tests(name);
}

std::string text_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<pid_t> children_of(pid_t pid) {
  const std::string name = std::to_string(pid);
  std::ifstream children{"/proc/" + name + "/task/" + name + "/children"};
  std::vector<pid_t> all;
  for (pid_t child = 0; children >> child;) all.push_back(child);
  return all;
}

char state_of(pid_t pid) {
  const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t end = stat.rfind(") ");
  return end == std::string::npos ? 'X' : stat[end + 2];
}

// Pid 1 hears at once of the end of somebody else's child, of a spawner that stands, has begun and
// become a program, and of that program's end.
TEST(Once, IsHowOftenAProgramRunsThatEndsBeforeItsStartIsHeardOf) {
  const os::TempDir dir;
  gate() = (dir.path() / "gate").string();
  const std::string ran = (dir.path() / "ran").string();
  ASSERT_TRUE(os::create_file(dir.fd(), "gate", "", 0600));
  auto pair = *os::socketpair(os::SocketType::stream);
  auto host = std::make_unique<TestHost>(std::move(pair.one));
  const pid_t guest = ::fork();
  ASSERT_GE(guest, 0);
  if (guest == 0) {
    host.reset();
    if (!os::set_no_new_privs() || !os::set_child_subreaper(true)) ::_exit(99);
    ::_exit(static_cast<int>(run(Control{std::move(pair.two)},
                                 {.pid_namespace = false, .find_filter = find_behind_gate})));
  }
  pair.two = os::Fd{};
  ASSERT_TRUE(host->send(setup()));
  host->run(shell(1, "sleep 1000 >/dev/null 2>&1 &"));
  const std::vector<pid_t> orphans = children_of(guest);
  ASSERT_EQ(orphans.size(), 1U);
  ASSERT_EQ(::unlink(gate().c_str()), 0);
  ASSERT_TRUE(host->send(shell(2, "echo once >> " + ran)));
  while (children_of(guest).size() < 2) ::usleep(1000);
  const pid_t spawner = children_of(guest).back();
  // It has asked for the start, and waits.
  for (int still = 0; still < 20; still = state_of(guest) == 'S' ? still + 1 : 0) ::usleep(1000);

  ::kill(guest, SIGSTOP);
  ::kill(orphans[0], SIGKILL);
  while (state_of(orphans[0]) != 'Z') ::usleep(1000);
  ASSERT_TRUE(os::create_file(dir.fd(), "gate", "", 0600));
  for (int waits = 0; state_of(spawner) != 'Z' && waits < 5000; ++waits) ::usleep(1000);
  ASSERT_EQ(text_of(ran), "once\n");
  ::kill(guest, SIGCONT);
  EXPECT_TRUE(host->hear_end(2));
  EXPECT_EQ(host->heard[2].exits.size(), 1U);
  EXPECT_EQ(text_of(ran), "once\n");
  host->stream() = os::Fd{};
  ::waitpid(guest, nullptr, 0);
}

}  // namespace
}  // namespace cordon::guest
