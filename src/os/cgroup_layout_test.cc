// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup_layout.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace cordon::os {
namespace {

constexpr std::string_view kHybridMounts =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,seclabel,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd ro,relatime - cgroup cgroup "
    "rw,xattr,release_agent=/lib/x,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr std::string_view kHybridMemberships =
    "9:name=systemd:/user.slice\n"
    "4:memory:/jobs/a:b\n"
    "2:cpuacct,cpu:/\n"
    "0::/user.slice/x\n";

TEST(CgroupLayout, FindsEveryTreeOfAHybridHost) {
  const CgroupTrees trees = locate_cgroups(kHybridMounts, kHybridMemberships);
  EXPECT_EQ(trees.layout, CgroupLayout::hybrid);
  ASSERT_EQ(trees.hierarchies.size(), 4U);
  ASSERT_NE(trees.v1("memory"), nullptr);
  EXPECT_EQ(trees.v1("memory")->own, "/sys/fs/cgroup/memory/jobs/a:b");
  ASSERT_NE(trees.v2(), nullptr);
  EXPECT_EQ(trees.v2()->own, "/sys/fs/cgroup/unified/user.slice/x");
  EXPECT_EQ(trees.v1("pids"), nullptr);
}

TEST(CgroupLayout, MatchesControllersThatAreMountedTogetherInAnyOrder) {
  const CgroupTrees trees = locate_cgroups(kHybridMounts, kHybridMemberships);
  ASSERT_NE(trees.v1("cpuacct"), nullptr);
  EXPECT_EQ(trees.v1("cpu"), trees.v1("cpuacct"));
  EXPECT_EQ(trees.v1("cpu")->own, "/sys/fs/cgroup/cpu,cpuacct");
}

TEST(CgroupLayout, TakesNoMountOptionForAController) {
  const auto mounts = parse_cgroup_mounts(kHybridMounts);
  ASSERT_EQ(mounts.size(), 4U);
  EXPECT_EQ(mounts[1].controllers, std::vector<std::string>{"memory"});
  EXPECT_EQ(mounts[2].controllers, std::vector<std::string>{"name=systemd"});
  EXPECT_TRUE(mounts[2].read_only);
  EXPECT_FALSE(mounts[1].read_only);
  EXPECT_TRUE(mounts[3].controllers.empty());
}

TEST(CgroupLayout, TellsPureLayoutsApart) {
  constexpr std::string_view kV2 = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(locate_cgroups(kV2, "0::/a\n").layout, CgroupLayout::v2);
  EXPECT_EQ(locate_cgroups(kV2, "0::/a\n").v2()->own, "/sys/fs/cgroup/a");
  constexpr std::string_view kV1 = "35 31 0:32 / /cg/pids rw - cgroup cgroup rw,pids\n";
  EXPECT_EQ(locate_cgroups(kV1, "3:pids:/\n").layout, CgroupLayout::v1);
  EXPECT_EQ(locate_cgroups("", "0::/\n").layout, CgroupLayout::none);
}

TEST(CgroupLayout, StripsTheRootOfAPartialMount) {
  constexpr std::string_view kPart = "30 23 0:26 /box/7 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(locate_cgroups(kPart, "0::/box/7/in\n").v2()->own, "/sys/fs/cgroup/in");
  EXPECT_EQ(locate_cgroups(kPart, "0::/box/7\n").v2()->own, "/sys/fs/cgroup");
  EXPECT_EQ(locate_cgroups(kPart, "0::/box/77\n").v2()->own, std::nullopt);
  EXPECT_EQ(locate_cgroups(kPart, "0::/../8\n").v2()->own, std::nullopt);
}

TEST(CgroupLayout, PrefersTheMountThatShowsOurOwnGroup) {
  constexpr std::string_view kTwice =
      "30 23 0:26 /other /mnt/part rw - cgroup2 cgroup2 rw\n"
      "31 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
      "32 23 0:26 / /mnt/late rw - cgroup2 cgroup2 rw\n";
  const CgroupTrees trees = locate_cgroups(kTwice, "0::/a\n");
  ASSERT_EQ(trees.hierarchies.size(), 1U);
  EXPECT_EQ(trees.v2()->own, "/sys/fs/cgroup/a");
}

TEST(CgroupLayout, UnescapesMountPoints) {
  constexpr std::string_view kOdd =
      "30 23 0:26 / /mnt/with\\040space\\134 rw - cgroup2 cgroup2 rw\n";
  ASSERT_EQ(parse_cgroup_mounts(kOdd).size(), 1U);
  EXPECT_EQ(parse_cgroup_mounts(kOdd)[0].path, "/mnt/with space\\");
}

TEST(CgroupLayout, PassesOverMalformedLines) {
  for (const std::string_view odd :
       {"", "\n\n", "-", "1 2 3 - cgroup2 x", "a b c d e f g h i -", "30 23 0:26 / /m rw - cgroup2",
        "30 23 0:26 / /m - cgroup2 cgroup2 rw"}) {
    EXPECT_TRUE(parse_cgroup_mounts(odd).empty()) << odd;
  }
  EXPECT_TRUE(parse_cgroup_memberships("nonsense\n1:two\n").empty());
}

TEST(CgroupLayout, OfThisHostNamesDirectoriesThatExist) {
  const auto trees = read_cgroup_trees();
  ASSERT_TRUE(trees) << trees.error().text();
  if (trees->layout == CgroupLayout::none) GTEST_SKIP() << "no cgroup mount in sight";
  for (const CgroupHierarchy& tree : trees->hierarchies) {
    if (tree.own) EXPECT_TRUE(std::filesystem::is_directory(*tree.own)) << *tree.own;
  }
}

}  // namespace
}  // namespace cordon::os
