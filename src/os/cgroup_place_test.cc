// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup_place.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

// A tree of directories with the two files that are looked at; the caller lives in top/a/b.
class PlaceOfGroups : public testing::Test {
 protected:
  void give(const std::string& group, const char* controllers, bool usable = true) {
    const std::string path = "top" + group;
    ASSERT_EQ(::mkdirat(dir_.fd().get(), path.c_str(), 0700), 0);
    ASSERT_TRUE(create_file(dir_.fd(), (path + "/cgroup.subtree_control").c_str(),
                            std::string{controllers} + "\n", 0600));
    if (usable) ASSERT_TRUE(create_file(dir_.fd(), (path + "/cgroup.procs").c_str(), "", 0600));
  }

  std::string top() const { return (dir_.path() / "top").string(); }

  std::string place() const {
    const CgroupHierarchy tree{.mount = {.v2 = true, .path = top(), .root = "/"},
                               .own = top() + "/a/b"};
    const auto found = place_of_groups(tree);
    return found ? found->substr(top().size()) : "none";
  }

  TempDir dir_;
};

TEST_F(PlaceOfGroups, IsTheOwnGroupWhereItHandsControllersOn) {
  give("", "cpuset cpu io memory pids");
  give("/a", "memory pids cpu");
  give("/a/b", "cpu memory pids");
  EXPECT_EQ(place(), "/a/b");
}

TEST_F(PlaceOfGroups, IsBesideTheOwnGroupWhereThatOneHoldsProcesses) {
  give("", "cpu io memory pids");
  give("/a", "cpu io memory pids");
  give("/a/b", "");
  EXPECT_EQ(place(), "/a");
}

TEST_F(PlaceOfGroups, IsFurtherUpOnlyForMoreControllers) {
  give("", "cpu memory pids");
  give("/a", "memory pids");
  give("/a/b", "");
  EXPECT_EQ(place(), "");
}

TEST_F(PlaceOfGroups, PassesOverGroupsThatTheCallerMayNotUse) {
  give("", "cpu memory pids", false);
  give("/a", "memory", true);
  give("/a/b", "", true);
  EXPECT_EQ(place(), "/a");
}

TEST_F(PlaceOfGroups, IsTheOwnGroupWhereNobodyHandsAnythingOn) {
  give("", "hugetlb");
  give("/a", "");
  give("/a/b", "");
  EXPECT_EQ(place(), "/a/b");
}

TEST_F(PlaceOfGroups, ReadsWholeNames) {
  give("", "cpu memory pids");
  give("/a", "cpuset memory_x pidsy");
  give("/a/b", "");
  EXPECT_EQ(place(), "");
}

TEST_F(PlaceOfGroups, IsNowhereWithoutAUsableGroup) {
  give("", "cpu memory pids", false);
  give("/a", "cpu memory pids", false);
  give("/a/b", "", false);
  EXPECT_EQ(place(), "none");
}

TEST_F(PlaceOfGroups, IsNowhereWhereTheOwnGroupIsNotShown) {
  const CgroupHierarchy tree{.mount = {.v2 = true, .path = "/nowhere", .root = "/"}, .own = {}};
  EXPECT_EQ(place_of_groups(tree), std::nullopt);
}

}  // namespace
}  // namespace cordon::os
