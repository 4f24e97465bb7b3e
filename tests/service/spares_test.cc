// SPDX-License-Identifier: Apache-2.0
// Sandboxes behind an engine that a service starts ahead: only for plans that came before, as new
// as those started when asked for, and gone when nobody may have them any more.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <unistd.h>

#include "os/pidfd.h"
#include "service.h"

namespace cordon::service {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunsc = "/usr/bin/runsc";
const std::string kNone = "sandboxes_ahead = 0\nrunsc = /usr/bin/runsc\nengines_ahead = 0\n";
const std::string kOne = "sandboxes_ahead = 0\nrunsc = /usr/bin/runsc\nengines_ahead = 1\n";

class RootSpares : public RootService {
 protected:
  void SetUp() override {
    if (::geteuid() == 0 && !fs::exists(kRunsc)) GTEST_SKIP() << "no " << kRunsc;
    RootService::SetUp();
  }
  frame::LaunchPlan behind(const std::string& id) const {
    frame::LaunchPlan wanted = plan(id);
    wanted.engine = frame::Engine::gvisor;
    // Debian's runsc knows no other.
    wanted.platform = frame::Platform::old_ptrace;
    // The engine itself lives in them too, and has no Landlock for those inside.
    wanted.limits = {.memory = 512U << 20U, .pids = 256};
    wanted.setup.fences.landlock_abi = 0;
    wanted.setup.fences.paths.clear();
    return wanted;
  }
  // Those in front of an engine, whoever's they are.
  std::vector<pid_t> running() const {
    std::vector<pid_t> found;
    std::ifstream children{"/proc/" + std::to_string(pid()) + "/task/" + std::to_string(pid()) +
                           "/children"};
    for (pid_t child = 0; children >> child;) {
      std::ifstream name{"/proc/" + std::to_string(child) + "/comm"};
      std::string comm;
      std::getline(name, comm);
      if (comm == "cordon-relay") found.push_back(child);
    }
    return found;
  }
  struct Told {
    std::string out;
    bool was_running = false;
    std::vector<std::string> groups{};
  };
  Told told(Node& node, const frame::LaunchPlan& plan, const std::string& script) const {
    const std::vector<pid_t> before = running();
    Answer answer = node.launch(plan);
    const auto* launched = answer.as<frame::Launched>();
    EXPECT_NE(launched, nullptr) << answer.text();
    if (launched == nullptr) return {};
    const bool was = std::ranges::find(before, static_cast<pid_t>(launched->pid)) != before.end();
    guest::TestHost host{std::move(answer.fds[0])};
    Told what{host.run(guest::shell(1, script)).out, was, launched->groups};
    EXPECT_NE(node.ask(frame::Destroy{plan.id}).as<frame::Ended>(), nullptr);
    return what;
  }
  void make_known(Node& node, const frame::LaunchPlan& plan) const {
    EXPECT_FALSE(told(node, plan, "true").was_running);
    ASSERT_TRUE(running().empty()) << "nobody has come twice";
    EXPECT_FALSE(told(node, plan, "true").was_running);
    await_one();
  }
  void await_one() const {
    ASSERT_TRUE(comes_true([&] { return running().size() == 1; }));
    // The launcher has come back from it.
    ::usleep(50'000);
  }
};

TEST_F(RootSpares, RunForAPlanThatCameTwice) {
  write_floor(kOne);
  start();
  Node node = this->node();
  make_known(node, behind("abcd2345"));
  const Told third = told(node, behind("abcd2346"), "echo ran; ls /w");
  EXPECT_TRUE(third.was_running);
  EXPECT_EQ(third.out, "ran\n");
  // Each is used once: the next is another one.
  await_one();
  EXPECT_TRUE(told(node, behind("abcd2347"), "true").was_running);
}

TEST_F(RootSpares, AreNoneWhereTheFloorWantsNone) {
  write_floor(kNone);
  start();
  Node node = this->node();
  for (const char* id : {"abcd2345", "abcd2346", "abcd2347"}) {
    EXPECT_FALSE(told(node, behind(id), "true").was_running);
    ::usleep(400'000);
    EXPECT_TRUE(running().empty());
  }
}

TEST_F(RootSpares, AreForNoOtherPlan) {
  write_floor(kOne);
  start();
  Node node = this->node();
  make_known(node, behind("abcd2345"));
  frame::LaunchPlan other = behind("abcd2346");
  other.files = {{"/etc/hostname", "other\n"}};
  const Told said = told(node, other, "cat /etc/hostname");
  EXPECT_FALSE(said.was_running);
  EXPECT_EQ(said.out, "other\n");
  frame::LaunchPlan tighter = behind("abcd2347");
  tighter.limits.pids = 128;
  EXPECT_FALSE(told(node, tighter, "true").was_running);
  const Told same = told(node, behind("abcd234a"), "cat /etc/hostname 2>&- || echo none");
  EXPECT_TRUE(same.was_running) << "the counter-arm";
  EXPECT_EQ(same.out, "none\n");
}

TEST_F(RootSpares, MakeRoomForAPlanThatComesMoreOften) {
  write_floor(kOne);
  start();
  Node node = this->node();
  make_known(node, behind("abcd2345"));
  const std::vector<pid_t> first = running();
  frame::LaunchPlan other = behind("abcd2346");
  other.host_name = "other";
  EXPECT_FALSE(told(node, other, "true").was_running);
  EXPECT_EQ(running(), first);
  EXPECT_FALSE(told(node, other, "true").was_running);
  ASSERT_TRUE(comes_true([&] { return running().size() == 1 && running() != first; }));
  ::usleep(50'000);
  EXPECT_TRUE(told(node, other, "true").was_running);
}

TEST_F(RootSpares, HaveTheLimitsOfTheirPlan) {
  write_floor(kOne);
  start();
  Node node = this->node();
  frame::LaunchPlan known = behind("abcd2345");
  known.limits.pids = 192;
  make_known(node, known);
  known.id = "abcd2346";
  const std::vector<pid_t> before = running();
  const Answer answer = node.launch(known);
  const auto* launched = answer.as<frame::Launched>();
  ASSERT_NE(launched, nullptr) << answer.text();
  EXPECT_EQ(before, std::vector{static_cast<pid_t>(launched->pid)});
  std::string held;
  for (const std::string& group : launched->groups) {
    std::ifstream file{group + "/pids.max"};
    if (file) file >> held;
  }
  EXPECT_EQ(held, "192");
  EXPECT_NE(node.ask(frame::Destroy{known.id}).as<frame::Ended>(), nullptr);
}

TEST_F(RootSpares, ShowASourceThatWasReplacedMeanwhile) {
  write_floor(kOne);
  fs::create_directory(path("data/tree"));
  std::ofstream{path("data/tree/what")} << "old\n";
  start();
  Node node = this->node();
  frame::LaunchPlan wanted = behind("abcd2345");
  wanted.binds.back().source = path("data/tree");
  make_known(node, wanted);
  fs::rename(path("data/tree"), path("data/gone"));
  fs::create_directory(path("data/tree"));
  std::ofstream{path("data/tree/what")} << "new\n";
  wanted.id = "abcd2346";
  const Told said = told(node, wanted, "cat /data/what");
  EXPECT_FALSE(said.was_running);
  EXPECT_EQ(said.out, "new\n");
}

TEST_F(RootSpares, ThatHaveDiedAreNotUsed) {
  write_floor(kOne);
  start();
  Node node = this->node();
  make_known(node, behind("abcd2345"));
  const pid_t relay = running().front();
  const auto pidfd = os::pidfd_open(relay);
  ASSERT_TRUE(pidfd) << pidfd.error().text();
  ASSERT_EQ(::kill(relay, SIGKILL), 0);
  pollfd end{.fd = pidfd->get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&end, 1, 5'000), 1);
  const Told said = told(node, behind("abcd2346"), "echo ran");
  EXPECT_FALSE(said.was_running);
  EXPECT_EQ(said.out, "ran\n");
}

TEST_F(RootSpares, GiveTheirIdsUpWhereThereAreNoOthers) {
  write_floor(kOne, 0, 2);
  start();
  Node node = this->node();
  make_known(node, behind("abcd2345"));
  for (const char* id : {"abcd2346", "abcd2347"}) {
    const Answer answer = node.launch(plan(id));
    EXPECT_NE(answer.as<frame::Launched>(), nullptr) << id << ": " << answer.text();
  }
  EXPECT_EQ(node.launch(plan("abcd234a")).text(), "prepare: all id ranges are in use");
}

TEST_F(RootSpares, EndWithTheirLauncher) {
  write_floor(kOne);
  start();
  pid_t relay = 0;
  {
    Node node = this->node();
    make_known(node, behind("abcd2345"));
    relay = running().front();
  }
  const auto pidfd = os::pidfd_open(relay);
  ASSERT_TRUE(pidfd) << pidfd.error().text();
  EXPECT_TRUE(is_alive(*pidfd));
  stop(SIGKILL);
  EXPECT_TRUE(comes_true([&] { return !is_alive(*pidfd); }));
}

}  // namespace
}  // namespace cordon::service
