// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup_v1.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/cgroup_layout.h"
#include "os/cgroup_test_support.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

// Groups of our own right below each mount: no existing group, hence no foreign process, is
// touched.
class CgroupV1Test : public testing::Test {
 protected:
  void SetUp() override {
    const auto trees = read_cgroup_trees();
    ASSERT_TRUE(trees) << trees.error().text();
    for (const char* controller : {"memory", "pids", "cpu", "cpuacct", "freezer"}) {
      const CgroupHierarchy* tree = trees->v1(controller);
      if (tree == nullptr) GTEST_SKIP() << "no v1 hierarchy with " << controller;
      if (tree->mount.controllers.front() != controller) continue;  // co-mounted: once
      auto top = openat(at_cwd(), tree->mount.path.c_str(), O_RDONLY | O_DIRECTORY);
      ASSERT_TRUE(top) << top.error().text();
      parents_.push_back({tree->mount.controllers, std::make_shared<const Fd>(*std::move(top))});
    }
    const auto probe = CgroupV1::create(parents_, unique_group_name(), {});
    if (!probe) GTEST_SKIP() << "may make no group: " << probe.error().text();
  }

  bool exists(const std::string& name) const {
    return std::ranges::any_of(parents_, [&](const CgroupV1Parent& parent) {
      struct stat what{};
      return ::fstatat(parent.dir->get(), name.c_str(), &what, 0) == 0;
    });
  }

  // All but the named controller, which the hierarchy of its own must hold alone.
  std::vector<CgroupV1Parent> parents_without(std::string_view controller) const {
    std::vector<CgroupV1Parent> some;
    for (const CgroupV1Parent& parent : parents_) {
      if (std::ranges::find(parent.controllers, controller) != parent.controllers.end()) continue;
      some.push_back(parent);
    }
    return some;
  }

  std::vector<CgroupV1Parent> parents_;
};

TEST_F(CgroupV1Test, IsRemovedFromEveryHierarchyAtTheEndOfItsOwner) {
  const std::string name = unique_group_name();
  {
    const auto group = CgroupV1::create(parents_, name, {});
    ASSERT_TRUE(group) << group.error().text();
    EXPECT_TRUE(exists(name));
  }
  EXPECT_FALSE(exists(name));
}

TEST_F(CgroupV1Test, RefusesALimitWithoutItsControllerAndLeavesNothing) {
  const std::string name = unique_group_name();
  const auto group = CgroupV1::create(parents_without("pids"), name, {.pids = 4});
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().code(), Errc::unavailable);
  EXPECT_FALSE(exists(name));
  EXPECT_TRUE(CgroupV1::create(parents_, name, {.pids = 4}));
}

TEST_F(CgroupV1Test, HoldsTheLimitsGiven) {
  const auto group = CgroupV1::create(
      parents_, unique_group_name(),
      {.memory_bytes = 16 << 20, .pids = 4, .cpu = CpuQuota{std::chrono::microseconds{20'000}}});
  ASSERT_TRUE(group) << group.error().text();
  EXPECT_EQ(*read_file(*group->dir("memory"), "memory.limit_in_bytes"), "16777216\n");
  EXPECT_EQ(*read_file(*group->dir("pids"), "pids.max"), "4\n");
  EXPECT_EQ(*read_file(*group->dir("cpu"), "cpu.cfs_quota_us"), "20000\n");
  EXPECT_EQ(*read_file(*group->dir("cpu"), "cpu.cfs_period_us"), "100000\n");
}

TEST_F(CgroupV1Test, SwapIsHeldTogetherWithMemoryBothUpAndDown) {
  const auto group = CgroupV1::create(parents_, unique_group_name(), {});
  ASSERT_TRUE(group);
  if (!read_file(*group->dir("memory"), "memory.memsw.limit_in_bytes")) {
    GTEST_SKIP() << "no swap accounting";
  }
  for (const std::uint64_t mib : {16U, 8U, 32U}) {
    ASSERT_EQ(outcome(group->set_limits({.memory_bytes = mib << 20U, .swap_bytes = 0})), "ok");
    EXPECT_EQ(*read_file(*group->dir("memory"), "memory.memsw.limit_in_bytes"),
              *read_file(*group->dir("memory"), "memory.limit_in_bytes"));
  }
  EXPECT_FALSE(group->set_limits({.swap_bytes = 0}));
}

TEST_F(CgroupV1Test, PidsLimitRefusesTheForkThatPassesIt) {
  const auto forks = [&](std::uint64_t limit) {
    const auto group = CgroupV1::create(parents_, unique_group_name(), {.pids = limit});
    if (!group) return outcome(group);
    const std::string said = in_child([&]() -> std::string {
      if (const auto in = group->add(0); !in) return outcome(in);
      const pid_t child = ::fork();
      if (child == 0) ::_exit(0);
      return child > 0 ? "forked" : errno == EAGAIN ? "EAGAIN" : "another error";
    });
    return said + " " + std::to_string(group->usage().pids_refused.value_or(99));
  };
  EXPECT_EQ(forks(1), "EAGAIN 1");
  EXPECT_EQ(forks(8), "forked 0");
}

TEST_F(CgroupV1Test, MemoryLimitKillsWhoPassesItAndCountsIt) {
  const auto touch = [&](std::uint64_t limit_mib) {
    const auto group =
        CgroupV1::create(parents_, unique_group_name(), {.memory_bytes = limit_mib << 20U});
    if (!group) return outcome(group);
    const std::string said = in_child([&]() -> std::string {
      if (const auto in = group->add(0); !in) return outcome(in);
      constexpr std::size_t kSize = std::size_t{48} << 20U;
      void* memory =
          ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) return "mmap";
      std::memset(memory, 1, kSize);
      return "touched";
    });
    return said + " " + std::to_string(group->usage().oom_kills.value_or(99));
  };
  EXPECT_EQ(touch(24), "signal 9 1");
  EXPECT_EQ(touch(256), "touched 0");
}

TEST_F(CgroupV1Test, KillReturnsWhenEveryMemberIsGone) {
  const auto group = CgroupV1::create(parents_, unique_group_name(), {});
  ASSERT_TRUE(group);
  const Fd one = start_member(*group);
  const Fd two = start_member(*group);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(group->processes()->size(), 2U);
  EXPECT_EQ(outcome(group->kill()), "ok");
  EXPECT_FALSE(group->events()->populated);
  EXPECT_EQ(to_string(*waitid(one)), "signal 9");
  EXPECT_EQ(to_string(*waitid(two)), "signal 9");
}

TEST_F(CgroupV1Test, OwnersEndKillsMembersAlsoFrozenOnesAndWithoutTheFreezer) {
  for (const bool with_freezer : {true, false}) {
    const std::string name = unique_group_name();
    Fd member;
    {
      const auto fewer = parents_without("freezer");
      const auto group = CgroupV1::create(with_freezer ? parents_ : fewer, name, {});
      ASSERT_TRUE(group) << group.error().text();
      member = start_member(*group);
      ASSERT_TRUE(member);
      EXPECT_EQ(static_cast<bool>(group->freeze()), with_freezer);
    }
    EXPECT_EQ(to_string(*waitid(member)), "signal 9");
    EXPECT_FALSE(exists(name));
  }
}

TEST_F(CgroupV1Test, FreezeStopsMembersAndThawLetsThemGoOn) {
  const auto group = CgroupV1::create(parents_, unique_group_name(), {});
  ASSERT_TRUE(group);
  const Fd member = start_member(*group);
  ASSERT_TRUE(member);
  ASSERT_TRUE(group->freeze());
  EXPECT_TRUE(becomes_true([&] { return group->events()->frozen; }));
  ASSERT_TRUE(pidfd_send_signal(member, SIGTERM));
  EXPECT_FALSE(try_waitid(member)->has_value()) << "a frozen process does not die";
  ASSERT_TRUE(group->thaw());
  EXPECT_EQ(to_string(*waitid(member)), "signal 15");
}

TEST_F(CgroupV1Test, CountsProcessorTimeAndPeaks) {
  const auto group = CgroupV1::create(parents_, unique_group_name(), {});
  ASSERT_TRUE(group);
  EXPECT_EQ(in_child([&] { return outcome(group->add(0)); }), "ok");
  const CgroupUsage usage = group->usage();
  EXPECT_GT(usage.cpu.value_or(std::chrono::microseconds{0}).count(), 0);
  EXPECT_TRUE(usage.memory_peak.has_value());
  EXPECT_EQ(usage.pids, 0U);
}

TEST_F(CgroupV1Test, AdoptTakesOverWhatAPredecessorLeft) {
  const std::string name = unique_group_name();
  ASSERT_EQ(::mkdirat(parents_.back().dir->get(), name.c_str(), 0755), 0);
  auto left = CgroupV1::adopt(parents_, name);
  ASSERT_TRUE(left) << left.error().text();
  EXPECT_EQ(outcome((*std::move(left)).remove()), "ok");
  EXPECT_FALSE(exists(name));
  EXPECT_FALSE(CgroupV1::adopt(parents_, name));
}

}  // namespace
}  // namespace cordon::os
