// SPDX-License-Identifier: Apache-2.0
// Sandboxes that a service makes ahead: they differ in nothing from those made when asked for, and
// the launcher comes back from furnishing them whatever happens there.
#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <regex>
#include <sstream>
#include <unistd.h>

#include "os/pidfd.h"
#include "service.h"

namespace cordon::service {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoneAhead = "groups_ahead = 0\nsandboxes_ahead = 0\n";
constexpr const char* kTwoAhead = "groups_ahead = 0\nsandboxes_ahead = 2\n";

// With no groups in the pool only a sandbox that was made ahead has one of its names.
bool was_ahead(const frame::Launched& launched) {
  return !launched.groups.empty() &&
         std::ranges::all_of(launched.groups, [](const std::string& group) {
           return group.find("/cordon-pool-") != std::string::npos;
         });
}

// What the kernel numbers as it likes is left out.
std::string without_numbers(const std::string& state) {
  static const std::array<std::pair<std::regex, const char*>, 4> kNumbers = {{
      {std::regex{"^(/proc/self/mountinfo) \\d+ \\d+ \\d+:\\d+"}, "$1"},
      {std::regex{"/cordon-\\S*"}, "/cordon-#"},
      {std::regex{"^(/proc/self/[ug]id_map\\s+\\S+\\s+)\\S+"}, "$1#"},
      {std::regex{"\\b(pid|parent|session) \\d+"}, "$1 #"},
  }};
  std::istringstream in{state};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    for (const auto& [number, instead] : kNumbers) line = std::regex_replace(line, number, instead);
    lines.push_back(line);
  }
  // Mounts stand in the order of their making.
  const auto mounts = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("/proc/self/mountinfo"); });
  std::sort(mounts, lines.end());
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

class RootBerths : public RootService {
 protected:
  std::vector<pid_t> waiting() const {
    std::vector<pid_t> found;
    std::ifstream children{"/proc/" + std::to_string(pid()) + "/task/" + std::to_string(pid()) +
                           "/children"};
    for (pid_t child = 0; children >> child;) {
      std::ifstream name{"/proc/" + std::to_string(child) + "/comm"};
      std::string comm;
      std::getline(name, comm);
      if (comm.starts_with("memfd:cordon") || comm == "cordon-init") found.push_back(child);
    }
    return found;
  }
  void await_two() const {
    ASSERT_TRUE(comes_true([&] { return waiting().size() == 2; }));
    // The launcher has heard of the second one too when it asks for no more.
    ::usleep(20'000);
  }
  // Those whose tree shows the plans' data already.
  std::vector<pid_t> furnished() const {
    std::vector<pid_t> found;
    for (const pid_t init : waiting()) {
      std::ifstream mounts{"/proc/" + std::to_string(init) + "/mountinfo"};
      std::ostringstream text;
      text << mounts.rdbuf();
      if (text.str().find(" /data ") != std::string::npos) found.push_back(init);
    }
    return found;
  }
  // What `script` says in a sandbox of its own, and whether that had been furnished ahead.
  struct Told {
    std::string out;
    bool was_furnished = false;
  };
  Told told(Node& node, const frame::LaunchPlan& plan, const std::string& script) const {
    const std::vector<pid_t> before = furnished();
    Answer answer = node.launch(plan);
    const auto* launched = answer.as<frame::Launched>();
    EXPECT_NE(launched, nullptr) << answer.text();
    if (launched == nullptr) return {};
    const bool was = std::ranges::find(before, static_cast<pid_t>(launched->pid)) != before.end();
    guest::TestHost host{std::move(answer.fds[0])};
    Told what{host.run(guest::shell(1, script)).out, was};
    EXPECT_NE(node.ask(frame::Destroy{plan.id}).as<frame::Ended>(), nullptr);
    return what;
  }
  // Until one waits that is furnished for this plan.
  void make_known(Node& node, const frame::LaunchPlan& plan) const {
    EXPECT_FALSE(told(node, plan, "true").was_furnished);
    EXPECT_FALSE(told(node, plan, "true").was_furnished);
    ASSERT_TRUE(comes_true([&] { return furnished().size() == 1; }));
    // The launcher has come back from it.
    ::usleep(20'000);
  }
  std::string own_namespaces() const {
    std::string names;
    for (const char* kind : {"mnt", "uts"}) {
      names += fs::read_symlink("/proc/" + std::to_string(pid()) + "/ns/" + kind).string();
    }
    return names + fs::read_symlink("/proc/" + std::to_string(pid()) + "/cwd").string();
  }
  // A launch, what `state` says inside, and the end.
  std::string state_of(Node& node, const frame::LaunchPlan& plan, bool ahead) const {
    Answer answer = node.launch(plan);
    const auto* launched = answer.as<frame::Launched>();
    EXPECT_NE(launched, nullptr) << answer.text();
    if (launched == nullptr) return {};
    EXPECT_EQ(was_ahead(*launched), ahead);
    guest::TestHost host{std::move(answer.fds[0])};
    const std::string text = host.run(guest::shell(1, "/data/state")).out;
    EXPECT_NE(node.ask(frame::Destroy{plan.id}).as<frame::Ended>(), nullptr);
    return without_numbers(text);
  }
  frame::LaunchPlan rich_plan(const std::string& id) const {
    frame::LaunchPlan wanted = plan(id);
    wanted.host_name = "inside";
    wanted.files = {{"/etc/hostname", "inside\n"}};
    wanted.directories = {"/tmp", "/dev/shm", "/home/user"};
    return wanted;
  }
};

TEST_F(RootBerths, AreLikeSandboxesMadeAfresh) {
  fs::copy_file(CORDON_STATE, path("data/state"));
  std::string afresh;
  std::string other;
  {
    write_floor(kNoneAhead);
    start();
    Node node = this->node();
    afresh = state_of(node, rich_plan("abcd2345"), false);
    frame::LaunchPlan differs = rich_plan("abcd2346");
    differs.directories.pop_back();
    other = state_of(node, differs, false);
  }
  stop(SIGTERM);
  write_floor(kTwoAhead);
  start();
  await_two();
  Node node = this->node();
  EXPECT_EQ(state_of(node, rich_plan("abcd2345"), true), afresh);
  EXPECT_TRUE(afresh.starts_with("ran\n"));
  EXPECT_NE(afresh.find("mountinfo"), std::string::npos);
  EXPECT_NE(afresh, other) << "a mount less is not seen: this test sees nothing";
}

TEST_F(RootBerths, AreFurnishedForAPlanThatCameTwice) {
  fs::copy_file(CORDON_STATE, path("data/state"));
  write_floor(kNoneAhead);
  start();
  std::string afresh;
  {
    Node node = this->node();
    afresh = state_of(node, rich_plan("abcd2345"), false);
  }
  stop(SIGTERM);
  write_floor(kTwoAhead);
  start();
  await_two();
  const std::string home = own_namespaces();
  Node node = this->node();
  make_known(node, rich_plan("abcd2345"));
  EXPECT_EQ(own_namespaces(), home);
  const Told third = told(node, rich_plan("abcd2346"), "/data/state");
  EXPECT_TRUE(third.was_furnished);
  EXPECT_EQ(without_numbers(third.out), afresh);
}

TEST_F(RootBerths, ThatAreFurnishedHaveTheLimitsOfTheirPlan) {
  write_floor(kTwoAhead);
  start();
  await_two();
  Node node = this->node();
  frame::LaunchPlan known = plan("abcd2345");
  known.limits.pids = 8;
  make_known(node, known);
  frame::LaunchPlan other = plan("abcd2346");
  other.limits.pids = 64;
  for (const auto& [wanted, is_known] : {std::pair{known, true}, std::pair{other, false}}) {
    const std::vector<pid_t> before = furnished();
    ASSERT_EQ(before.size(), 1U);
    const Answer answer = node.launch(wanted);
    const auto* launched = answer.as<frame::Launched>();
    ASSERT_NE(launched, nullptr) << answer.text();
    EXPECT_EQ(static_cast<pid_t>(launched->pid) == before.front(), is_known);
    std::string held;
    for (const std::string& group : launched->groups) {
      std::ifstream file{group + "/pids.max"};
      if (file) file >> held;
    }
    EXPECT_EQ(held, std::to_string(wanted.limits.pids.value_or(0)));
    ASSERT_NE(node.ask(frame::Destroy{wanted.id}).as<frame::Ended>(), nullptr);
    ASSERT_TRUE(comes_true([&] { return furnished().size() == 1; }));
    ::usleep(20'000);
  }
}

TEST_F(RootBerths, ThatAreFurnishedAreForNoOtherPlan) {
  write_floor(kTwoAhead);
  start();
  await_two();
  Node node = this->node();
  make_known(node, plan("abcd2345"));
  frame::LaunchPlan other = plan("abcd2346");
  other.files = {{"/etc/hostname", "other\n"}};
  const Told said = told(node, other, "cat /etc/hostname");
  EXPECT_FALSE(said.was_furnished);
  EXPECT_EQ(said.out, "other\n");
  EXPECT_EQ(told(node, plan("abcd2347"), "cat /etc/hostname 2>&- || echo none").out, "none\n");
}

TEST_F(RootBerths, ShowASourceThatWasReplacedMeanwhile) {
  write_floor(kTwoAhead);
  fs::create_directory(path("data/tree"));
  std::ofstream{path("data/tree/what")} << "old\n";
  start();
  await_two();
  Node node = this->node();
  frame::LaunchPlan wanted = plan("abcd2345");
  wanted.binds.back().source = path("data/tree");
  make_known(node, wanted);
  fs::rename(path("data/tree"), path("data/gone"));
  fs::create_directory(path("data/tree"));
  std::ofstream{path("data/tree/what")} << "new\n";
  wanted.id = "abcd2346";
  const Told said = told(node, wanted, "cat /data/what");
  EXPECT_FALSE(said.was_furnished);
  EXPECT_EQ(said.out, "new\n");
}

TEST_F(RootBerths, AreNotFurnishedWithWhatTheyMayWriteTo) {
  write_floor(std::string{kTwoAhead} + "writable_binds = true\n");
  start();
  await_two();
  Node node = this->node();
  frame::LaunchPlan wanted = plan("abcd2345");
  wanted.binds.back().writable = true;
  wanted.setup.fences.filter = "strict+nosetid";
  for (int times = 0; times < 3; ++times) {
    EXPECT_FALSE(told(node, wanted, "true").was_furnished);
    ::usleep(20'000);
  }
  EXPECT_TRUE(furnished().empty());
}

TEST_F(RootBerths, HaveTheDiskOfTheirPlan) {
  write_floor(kTwoAhead);
  start();
  await_two();
  Node node = this->node();
  frame::LaunchPlan wanted = plan("abcd2345");
  wanted.disk.bytes = 4U << 20U;
  Answer answer = node.launch(wanted);
  const auto* launched = answer.as<frame::Launched>();
  ASSERT_NE(launched, nullptr) << answer.text();
  EXPECT_TRUE(was_ahead(*launched));
  guest::TestHost host{std::move(answer.fds[0])};
  EXPECT_EQ(host.run(guest::shell(1, "head -c 3000000 /dev/zero >/tmp/f && echo fits")).out,
            "fits\n");
  EXPECT_EQ(host.run(guest::shell(2, "head -c 3000000 /dev/zero >/w/f 2>&- || echo full")).out,
            "full\n");
}

TEST_F(RootBerths, AreNotForPlansThatWantMore) {
  write_floor(kTwoAhead);
  start();
  await_two();
  Node node = this->node();
  std::vector<frame::LaunchPlan> plans(3, plan(""));
  plans[0].directories = {"/tmp", "/a", "/b", "/c", "/d"};
  plans[1].workspace.pins = {{.path = "kept", .placeholder = true}};
  plans[2].workspace = {.kind = frame::WorkspaceKind::live,
                        .source = path("data"),
                        .target = "/w",
                        .writable = false};
  for (std::size_t number = 0; number < plans.size(); ++number) {
    plans[number].id = "abcd234" + std::string(1, static_cast<char>('a' + number));
    const Answer answer = node.launch(plans[number]);
    const auto* launched = answer.as<frame::Launched>();
    ASSERT_NE(launched, nullptr) << number << ": " << answer.text();
    EXPECT_FALSE(was_ahead(*launched)) << number;
  }
}

TEST_F(RootBerths, GiveTheirIdsUpWhereThereAreNoOthers) {
  write_floor(kTwoAhead, 0, 3);
  start();
  await_two();
  Node node = this->node();
  for (const char* id : {"abcd2345", "abcd2346", "abcd2347"}) {
    frame::LaunchPlan wanted = plan(id);
    wanted.workspace.pins = {{.path = "kept", .placeholder = true}};
    const Answer answer = node.launch(wanted);
    EXPECT_NE(answer.as<frame::Launched>(), nullptr) << id << ": " << answer.text();
  }
  EXPECT_EQ(node.launch(plan("abcd234a")).text(), "prepare: all id ranges are in use");
}

TEST_F(RootBerths, ThatHaveDiedAreNotUsed) {
  write_floor(kTwoAhead);
  start();
  await_two();
  for (const pid_t init : waiting()) {
    const auto pidfd = os::pidfd_open(init);
    ASSERT_TRUE(pidfd) << pidfd.error().text();
    ASSERT_EQ(::kill(init, SIGKILL), 0);
    // The signal is sent, not yet obeyed: until then it is one that lives.
    pollfd end{.fd = pidfd->get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&end, 1, 5'000), 1) << init;
  }
  Node node = this->node();
  Answer answer = node.launch(plan("abcd2345"));
  ASSERT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
  guest::TestHost host{std::move(answer.fds[0])};
  EXPECT_EQ(host.run(guest::shell(1, "echo on")).out, "on\n");
}

TEST_F(RootBerths, LeaveTheLauncherAtHome) {
  write_floor(kTwoAhead);
  start();
  await_two();
  const std::string home = own_namespaces();
  Node node = this->node();
  // A file that is to hold another one: furnishing fails half-way.
  frame::LaunchPlan broken = plan("abcd2345");
  broken.files = {{"/file", "no directory"}, {"/file/below", ""}};
  const Answer answer = node.launch(broken);
  ASSERT_NE(answer.as<frame::Broken>(), nullptr) << answer.text();
  EXPECT_EQ(answer.as<frame::Broken>()->step, "root");
  EXPECT_EQ(own_namespaces(), home);
  EXPECT_NE(node.launch(plan("abcd2346")).as<frame::Launched>(), nullptr);
  EXPECT_EQ(own_namespaces(), home);
}

TEST_F(RootBerths, EndWithTheirLauncher) {
  write_floor(kTwoAhead);
  start();
  await_two();
  const std::vector<pid_t> inits = waiting();
  stop(SIGKILL);
  for (const pid_t init : inits) {
    EXPECT_TRUE(comes_true([&] { return ::kill(init, 0) != 0 && errno == ESRCH; })) << init;
  }
}

}  // namespace
}  // namespace cordon::service
