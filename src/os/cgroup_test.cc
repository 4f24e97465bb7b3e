// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup.h"

#include <cerrno>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <gtest/gtest.h>

#include "os/cgroup_layout.h"
#include "os/cgroup_test_support.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

// Groups of our own right below the v2 mount: no existing group, hence no foreign process, is
// touched.
class CgroupV2 : public testing::Test {
 protected:
  void SetUp() override {
    const auto trees = read_cgroup_trees();
    ASSERT_TRUE(trees) << trees.error().text();
    if (trees->v2() == nullptr) GTEST_SKIP() << "no cgroup2 mount";
    auto top = openat(at_cwd(), trees->v2()->mount.path.c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(top) << top.error().text();
    top_ = *std::move(top);
    const auto probe = Cgroup::create(top_, unique_group_name(), {});
    if (!probe) GTEST_SKIP() << "may make no group: " << probe.error().text();
  }

  bool exists(const std::string& name) const {
    struct stat what{};
    return ::fstatat(top_.get(), name.c_str(), &what, 0) == 0;
  }

  Fd top_;
};

TEST_F(CgroupV2, IsRemovedAtTheEndOfItsOwner) {
  const std::string name = unique_group_name();
  {
    const auto group = Cgroup::create(top_, name, {});
    ASSERT_TRUE(group) << group.error().text();
    EXPECT_TRUE(exists(name));
  }
  EXPECT_FALSE(exists(name));
}

TEST_F(CgroupV2, CreateRefusesANameInUseAndLeavesThatGroupAlone) {
  const std::string name = unique_group_name();
  const auto first = Cgroup::create(top_, name, {});
  ASSERT_TRUE(first);
  const auto second = Cgroup::create(top_, name, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Errc::exists);
  EXPECT_TRUE(exists(name));
}

TEST_F(CgroupV2, KillEndsEveryMember) {
  const auto group = Cgroup::create(top_, unique_group_name(), {});
  ASSERT_TRUE(group);
  const Fd member = start_member(*group);
  ASSERT_TRUE(member);
  EXPECT_TRUE(group->events()->populated);
  EXPECT_EQ(group->processes()->size(), 1U);
  const auto killed = group->kill();
  if (!killed && killed.error().code() == Errc::not_found) {
    ASSERT_TRUE(pidfd_send_signal(member, SIGKILL));
    ASSERT_TRUE(waitid(member));
    GTEST_SKIP() << "no cgroup.kill (kernel before 5.14)";
  }
  ASSERT_TRUE(killed) << killed.error().text();
  EXPECT_EQ(to_string(*waitid(member)), "signal 9");
  EXPECT_TRUE(becomes_true([&] { return !group->events()->populated; }));
}

TEST_F(CgroupV2, OwnersEndKillsMembersAndNestedGroups) {
  const std::string name = unique_group_name();
  Fd member;
  {
    const auto group = Cgroup::create(top_, name, {});
    ASSERT_TRUE(group);
    ASSERT_EQ(::mkdirat(group->dir().get(), "a", 0755), 0);
    ASSERT_EQ(::mkdirat(group->dir().get(), "a/b", 0755), 0);
    member = start_member(*group);
    ASSERT_TRUE(member);
  }
  EXPECT_EQ(to_string(*waitid(member)), "signal 9");
  EXPECT_FALSE(exists(name));
}

TEST_F(CgroupV2, FreezeStopsMembersAndThawLetsThemGoOn) {
  const auto group = Cgroup::create(top_, unique_group_name(), {});
  ASSERT_TRUE(group);
  const Fd member = start_member(*group);
  ASSERT_TRUE(member);
  EXPECT_FALSE(group->events()->frozen);
  ASSERT_TRUE(group->freeze());
  EXPECT_TRUE(becomes_true([&] { return group->events()->frozen; }));
  ASSERT_TRUE(group->thaw());
  EXPECT_TRUE(becomes_true([&] { return !group->events()->frozen; }));
  ASSERT_TRUE(pidfd_send_signal(member, SIGKILL));
  ASSERT_TRUE(waitid(member));
}

TEST_F(CgroupV2, AdoptTakesOverWhatAPredecessorLeft) {
  const std::string name = unique_group_name();
  ASSERT_EQ(::mkdirat(top_.get(), name.c_str(), 0755), 0);
  auto left = Cgroup::adopt(top_, name);
  ASSERT_TRUE(left) << left.error().text();
  EXPECT_EQ(outcome((*std::move(left)).remove()), "ok");
  EXPECT_FALSE(exists(name));
  EXPECT_FALSE(Cgroup::adopt(top_, name));
}

TEST_F(CgroupV2, HoldsItsLimitsOrRefusesToExist) {
  const std::string name = unique_group_name();
  const auto offered = available_controllers(top_);
  ASSERT_TRUE(offered);
  const auto group = Cgroup::create(top_, name, {.pids = 7});
  if (!group) {
    // Without the controller there is no pids.max: the limit is refused, not forgotten.
    EXPECT_EQ(group.error().code(), Errc::not_found);
    EXPECT_NE(group.error().text().find("pids.max"), std::string::npos);
    EXPECT_FALSE(exists(name)) << "a failed create leaves nothing behind";
    return;
  }
  EXPECT_EQ(*read_file(group->dir(), "pids.max"), "7\n");
}

TEST_F(CgroupV2, CountsTheProcessorTimeOfItsMembers) {
  const auto group = Cgroup::create(top_, unique_group_name(), {});
  ASSERT_TRUE(group);
  EXPECT_TRUE(group->usage().cpu.has_value());
}

TEST_F(CgroupV2, RefusesControllersThatItDoesNotHave) {
  constexpr std::array<std::string_view, 1> kNone{"no-such-controller"};
  const auto group = Cgroup::create(top_, unique_group_name(), {});
  ASSERT_TRUE(group);
  const auto refused = enable_controllers(group->dir(), kNone);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause().value(), EINVAL);
  EXPECT_TRUE(enable_controllers(group->dir(), {})) << "an empty command changes nothing";
}

// The names of files and the form of their values, without a host that has the controllers.
TEST(CgroupV2Files, LimitsAreWrittenInTheKernelsForm) {
  const TempDir dir;
  ASSERT_EQ(::mkdirat(dir.fd().get(), "g", 0700), 0);
  for (const char* file :
       {"g/memory.max", "g/memory.swap.max", "g/pids.max", "g/cpu.max", "g/io.max"}) {
    ASSERT_TRUE(create_file(dir.fd(), file, "", 0600));
  }
  const auto group = Cgroup::adopt(dir.fd(), "g");
  ASSERT_TRUE(group);
  const CgroupLimits limits{
      .memory_bytes = 1 << 20,
      .swap_bytes = 0,
      .pids = 5,
      .cpu = CpuQuota{std::chrono::microseconds{50'000}},
      .io = {{.major = 8, .minor = 1, .read_bytes = 9, .write_operations = 3}}};
  ASSERT_EQ(outcome(group->set_limits(limits)), "ok");
  EXPECT_EQ(*read_file(dir.fd(), "g/memory.max"), "1048576");
  EXPECT_EQ(*read_file(dir.fd(), "g/memory.swap.max"), "0");
  EXPECT_EQ(*read_file(dir.fd(), "g/pids.max"), "5");
  EXPECT_EQ(*read_file(dir.fd(), "g/cpu.max"), "50000 100000");
  EXPECT_EQ(*read_file(dir.fd(), "g/io.max"), "8:1 rbps=9 wiops=3");
}

TEST(CgroupV2Files, UsageIsReadFromTheKernelsForm) {
  const TempDir dir;
  ASSERT_EQ(::mkdirat(dir.fd().get(), "g", 0700), 0);
  ASSERT_TRUE(create_file(dir.fd(), "g/memory.current", "100\n", 0600));
  ASSERT_TRUE(create_file(dir.fd(), "g/memory.peak", "200\n", 0600));
  ASSERT_TRUE(create_file(dir.fd(), "g/memory.events", "low 0\noom 4\noom_kill 3\n", 0600));
  ASSERT_TRUE(create_file(dir.fd(), "g/pids.events", "max 6\n", 0600));
  ASSERT_TRUE(create_file(dir.fd(), "g/cpu.stat", "usage_usec 1500\nuser_usec 1\n", 0600));
  const auto group = Cgroup::adopt(dir.fd(), "g");
  ASSERT_TRUE(group);
  const CgroupUsage usage = group->usage();
  EXPECT_EQ(usage.memory_bytes, 100U);
  EXPECT_EQ(usage.memory_peak, 200U);
  EXPECT_EQ(usage.oom_kills, 3U);
  EXPECT_EQ(usage.pids_refused, 6U);
  EXPECT_EQ(usage.pids, std::nullopt);
  EXPECT_EQ(usage.cpu, std::chrono::microseconds{1500});
}

}  // namespace
}  // namespace cordon::os
