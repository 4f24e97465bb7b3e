// SPDX-License-Identifier: Apache-2.0
// What a service starts: within its floor, from its pools, with few descriptors.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

#include "os/cgroup_layout.h"
#include "os/file.h"
#include "os/pidfd.h"
#include "service.h"

namespace cordon::service {
namespace {

namespace fs = std::filesystem;

bool is_pooled(const std::string& group) {
  return group.find("/cordon-pool-") != std::string::npos;
}

TEST_F(RootService, StartsRunsAndEndsASandbox) {
  start();
  Node node = this->node();
  Answer answer = node.launch(plan("abcd2345"));
  const auto* launched = answer.as<frame::Launched>();
  ASSERT_NE(launched, nullptr) << answer.text();
  EXPECT_GE(launched->first_id, 1'610'612'736U);
  ASSERT_EQ(answer.fds.size(), 3U);
  {
    guest::TestHost host{std::move(answer.fds[0])};
    EXPECT_EQ(host.run(guest::shell(1, "id -u; ls /data | wc -l")).out, "1000\n0\n");
  }
  for (const std::string& group : launched->groups) EXPECT_TRUE(exists(group)) << group;
  EXPECT_EQ(node.launch(plan("abcd2345")).text(), "exists: the id is in use");
  const Answer ended = node.ask(frame::Destroy{"abcd2345"});
  ASSERT_NE(ended.as<frame::Ended>(), nullptr) << ended.text();
  EXPECT_TRUE(ended.as<frame::Ended>()->use.memory_peak);
  EXPECT_FALSE(is_alive(answer.fds[1]));
  for (const std::string& group : launched->groups) {
    EXPECT_TRUE(comes_true([&] { return !exists(group); })) << group;
  }
  EXPECT_TRUE(node.list().empty());
}

// Each was started on its own, behind fences that were put on anew, and yet they are one sandbox.
TEST_F(RootService, ProgramsOfASandboxSignalEachOther) {
  start();
  Node node = this->node();
  Answer answer = node.launch(plan("abcd2345"));
  ASSERT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
  guest::TestHost host{std::move(answer.fds[0])};
  ASSERT_TRUE(host.send(guest::shell(1, "echo $$; exec sleep 100")));
  ASSERT_TRUE(host.hear_until([&] { return host.heard[1].out.ends_with('\n'); }));
  ASSERT_EQ(host.run(guest::shell(2, "true")).exits.size(), 1U);
  const guest::Heard& other = host.run(guest::shell(3, "kill -TERM " + host.heard[1].out));
  EXPECT_EQ(other.err, "");
  ASSERT_TRUE(host.hear_end(1));
  EXPECT_EQ(host.heard[1].exits.at(0).value, unsigned{SIGTERM});
}

// A layer of Landlock that does not speak of them refuses them.
TEST_F(RootService, FilesMoveBetweenDirectories) {
  start();
  Node node = this->node();
  for (const char* id : {"abcd2345", "abcd2346", "abcd2347"}) {
    Answer answer = node.launch(plan(id));
    ASSERT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
    guest::TestHost host{std::move(answer.fds[0])};
    const guest::Heard& heard = host.run(guest::shell(
        1, "cd /tmp && mkdir a b && echo x > a/f && mv a/f b/f && ln b/f a/g && cat a/g"));
    EXPECT_EQ(heard.out + heard.err, "x\n");
    ::usleep(100'000);  // a berth may be ready by then
  }
}

TEST_F(RootService, FollowsNoLinkOutOfASource) {
  fs::create_directory_symlink("/etc", path("data/out"));
  fs::create_directory(path("data/in"));
  start();
  Node node = this->node();
  struct Try {
    const char* source;
    const char* answer;  // the beginning of it; nullptr: it starts
  };
  int number = 0;
  for (const Try& each :
       {Try{"in", nullptr}, Try{"out", "prepare: "}, Try{"out/hostname", "prepare: "},
        Try{"in/../out", "plan_below_floor: "}}) {
    for (const bool workspace : {false, true}) {
      frame::LaunchPlan wanted =
          plan("abcd234" + std::string(1, static_cast<char>('a' + number++)));
      const std::string source = path("data/" + std::string{each.source});
      if (workspace) {
        wanted.workspace = {.kind = frame::WorkspaceKind::live,
                            .source = source,
                            .target = "/w",
                            .writable = false};
      } else {
        wanted.binds.push_back({.source = source, .target = "/there"});
      }
      const Answer answer = node.launch(wanted);
      if (each.answer == nullptr) {
        EXPECT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
      } else {
        EXPECT_TRUE(answer.text().starts_with(each.answer)) << each.source << ": " << answer.text();
      }
    }
  }
  // What is optional is shown as the link that it is: a text, and nothing that it leads to.
  frame::LaunchPlan linked = plan("abcd2367");
  linked.binds.push_back({.source = path("data/out"), .target = "/there", .optional = true});
  Answer answer = node.launch(linked);
  ASSERT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
  guest::TestHost host{std::move(answer.fds[0])};
  EXPECT_EQ(host.run(guest::shell(1, "readlink /there; test -e /there/shadow || echo none")).out,
            "/etc\nnone\n");
}

TEST_F(RootService, WritesNothingOfTheHostUnlessItsFloorSaysSo) {
  start();
  {
    Node node = this->node();
    frame::LaunchPlan writing = plan("abcd2345");
    writing.setup.fences.filter = "strict+nosetid";
    writing.binds.back().writable = true;
    EXPECT_EQ(node.launch(writing).text(), "plan_below_floor: a writable mount of the host");
    writing = plan("abcd2346");
    writing.setup.fences.filter = "strict+nosetid";
    writing.workspace = {
        .kind = frame::WorkspaceKind::live, .source = path("data"), .target = "/w"};
    EXPECT_EQ(node.launch(writing).text(), "plan_below_floor: a workspace that writes to the host");
    writing = plan("abcd2347");
    writing.ids = frame::Ids::caller;
    EXPECT_EQ(node.launch(writing).text(), "plan_below_floor: the launcher's own id");
  }
  stop(SIGTERM);
  write_floor("writable_binds = true\n");
  start();
  Node node = this->node();
  frame::LaunchPlan writing = plan("abcd2345");
  writing.setup.fences.filter = "strict+nosetid";
  writing.binds.back().writable = true;
  Answer answer = node.launch(writing);
  ASSERT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
  guest::TestHost host{std::move(answer.fds[0])};
  EXPECT_EQ(host.run(guest::shell(1, "echo text >/data/f; echo $?")).out, "0\n");
  EXPECT_TRUE(exists(path("data/f")));
}

TEST_F(RootService, HoldsThreeDescriptorsForASandbox) {
  write_floor("groups_ahead = 3\nnetworks_ahead = 3\n");
  start();
  Node node = this->node();
  // The pool is full, and stays so, when the number stands still for longer than one more takes.
  constexpr int kStill = 40;
  const auto settled = [&] {
    std::size_t before = 0;
    int same = 0;
    EXPECT_TRUE(comes_true([&] {
      const std::size_t now = count_fds(pid());
      same = now == before ? same + 1 : 0;
      before = now;
      ::usleep(20'000);
      return same >= kStill;
    }));
    return before;
  };
  // With its first sandbox the launcher is done with the file of cordon-init; with its second one
  // of a kind it begins to furnish such ones ahead, which hold fewer.
  for (const char* id : {"abcd22", "abcd24"}) {
    ASSERT_NE(node.launch(plan(id)).as<frame::Launched>(), nullptr);
    ASSERT_NE(node.ask(frame::Destroy{id}).as<frame::Ended>(), nullptr);
  }
  const std::size_t empty = settled();
  for (int number = 0; number < 20; ++number) {
    const std::string id = "abcd23" + std::string{static_cast<char>('a' + number)};
    const Answer answer = node.launch(plan(id));
    ASSERT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
  }
  const std::size_t full = settled();
  EXPECT_LE(full - empty, 60U);
  RecordProperty("fds_of_20", static_cast<int>(full - empty));
  std::cout << "descriptors of 20 sandboxes: " << full - empty << ", of the launcher: " << empty
            << "\n";
  for (const frame::Held& held : node.list()) {
    ASSERT_NE(node.ask(frame::Destroy{held.id}).as<frame::Ended>(), nullptr);
  }
  EXPECT_EQ(settled(), empty);
}

TEST_F(RootService, HoldsNoMoreThanItsDescriptorsAllowAndRemovesThemWhole) {
  write_floor("groups_ahead = 0\nsandboxes_ahead = 0\nengines_ahead = 0\n");
  start({"/usr/bin/prlimit", "--nofile=170:170", CORDON_LAUNCHER});
  Node node = this->node();
  std::vector<std::string> groups;
  std::string last;
  for (char letter = 'a'; letter <= 'z' && last.empty(); ++letter) {
    const Answer answer = node.launch(plan("abcd23" + std::string{letter}));
    const auto* launched = answer.as<frame::Launched>();
    if (launched == nullptr) {
      last = answer.text();
    } else {
      groups.insert(groups.end(), launched->groups.begin(), launched->groups.end());
    }
  }
  EXPECT_EQ(last, "exhausted: too many sandboxes are held");
  EXPECT_EQ(node.list().size(), 14U);  // of (170 - 128) / 3
  for (const frame::Held& held : node.list()) {
    ASSERT_NE(node.ask(frame::Destroy{held.id}).as<frame::Ended>(), nullptr);
  }
  for (const std::string& group : groups) {
    EXPECT_TRUE(comes_true([&] { return !exists(group); })) << group;
  }
}

TEST_F(RootService, UsesEachGroupOfItsPoolOnce) {
  write_floor("groups_ahead = 2\n");
  start();
  Node node = this->node();
  std::set<std::string> seen;
  int pooled = 0;
  int limited = 0;
  for (int number = 0; number < 8; ++number) {
    ::usleep(20'000);  // time for the pool
    const Answer answer = node.launch(plan("abcd2345"));
    const auto* launched = answer.as<frame::Launched>();
    ASSERT_NE(launched, nullptr) << answer.text();
    for (const std::string& group : launched->groups) {
      EXPECT_TRUE(seen.insert(group).second) << group << " came twice";
      EXPECT_TRUE(exists(group)) << group;
      pooled += is_pooled(group) ? 1 : 0;
      // The limits are this plan's.
      const auto dir = os::openat(os::at_cwd(), group.c_str(), O_RDONLY | O_DIRECTORY);
      ASSERT_TRUE(dir);
      if (const auto most = os::read_file(*dir, "pids.max")) {
        EXPECT_EQ(*most, "64\n");
        ++limited;
      }
      for (const char* file : {"memory.limit_in_bytes", "memory.max"}) {
        const auto most = os::read_file(*dir, file);
        if (!most) continue;
        EXPECT_EQ(*most, "67108864\n");
        ++limited;
      }
      // Pid 1 is in it.
      const auto members = os::read_file(*dir, "cgroup.procs");
      ASSERT_TRUE(members);
      EXPECT_NE(("\n" + *members).find("\n" + std::to_string(launched->pid) + "\n"),
                std::string::npos)
          << group;
    }
    ASSERT_NE(node.ask(frame::Destroy{"abcd2345"}).as<frame::Ended>(), nullptr);
    for (const std::string& group : launched->groups) {
      EXPECT_TRUE(comes_true([&] { return !exists(group); })) << group;
    }
  }
  EXPECT_GT(pooled, 0);
  EXPECT_EQ(limited, 2 * 8) << "memory and pids of each";
}

TEST_F(RootService, MakesItsGroupsWhereItsFloorSays) {
  const auto trees = os::read_cgroup_trees();
  ASSERT_TRUE(trees);
  const std::string name = "cordon-service-test-" + std::to_string(::getpid());
  write_floor("cgroup = " + name + "/all\n");
  start();
  {
    Node node = this->node();
    const Answer answer = node.launch(plan("abcd2345"));
    const auto* launched = answer.as<frame::Launched>();
    ASSERT_NE(launched, nullptr) << answer.text();
    ASSERT_FALSE(launched->groups.empty());
    for (const std::string& group : launched->groups) {
      EXPECT_NE(group.find("/" + name + "/all/"), std::string::npos) << group;
    }
  }
  stop(SIGTERM);
  for (const os::CgroupHierarchy& tree : trees->hierarchies) {
    if (!tree.own) continue;
    for (const char* part : {"/all", ""}) {
      // On version 2 alone beside the launcher's own group, since that one holds processes.
      const bool beside = trees->layout == CgroupLayout::v2 && *tree.own != tree.mount.path;
      const std::string path = *tree.own + (beside ? "/../" : "/") + name + part;
      // Empty again: only then it goes.
      if (exists(path)) EXPECT_EQ(::rmdir(path.c_str()), 0) << path;
    }
  }
}

}  // namespace
}  // namespace cordon::service
