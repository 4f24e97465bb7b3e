// SPDX-License-Identifier: Apache-2.0
#include "os/id_map.h"

#include <array>
#include <memory>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/process.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

TEST(SubordinateIds, AreGrantedByNameOrByNumber) {
  constexpr std::string_view kText =
      "alice:100000:65536\nbob:165536:65536\n1000:300000:10\nalice:400000:1\n";
  EXPECT_EQ(parse_subordinate_ids(kText, "alice", 1000),
            (std::vector<SubordinateIds>{{100000, 65536}, {300000, 10}, {400000, 1}}));
  EXPECT_EQ(parse_subordinate_ids(kText, "bob", 1001),
            (std::vector<SubordinateIds>{{165536, 65536}}));
  EXPECT_TRUE(parse_subordinate_ids(kText, "carol", 7).empty());
}

TEST(SubordinateIds, MalformedLinesGrantNothing) {
  for (const std::string_view line :
       {"", "a", "a:1", "a:1:", "a::1", "a:1:0", "a:x:1", "a:1:1x", "a:-1:5", "a:4294967295:2",
        "a:1:4294967296", ":1:1", "a: 1:1", "ab:1:1", "a:1:1:1"}) {
    EXPECT_TRUE(parse_subordinate_ids(line, "a", 5).empty()) << line;
  }
  EXPECT_EQ(parse_subordinate_ids("a:4294967295:1", "a", 5).size(), 1U) << "the last id of all";
  EXPECT_EQ(parse_subordinate_ids("bad\na:1:1", "a", 5).size(), 1U) << "after a bad line";
}

TEST(IdMap, IsWrittenInTheKernelsForm) {
  constexpr std::array kRanges{IdRange{0, 1000, 1}, IdRange{1, 100000, 65535}};
  EXPECT_EQ(format_id_map(kRanges), "0 1000 1\n1 100000 65535\n");
}

// A child in a new user namespace that waits for its death.
class IdMapOfAChild : public testing::Test {
 protected:
  void SetUp() override {
    auto child = Child::start({.namespaces = Ns::user}, [] {
      while (true) ::pause();
      return 0;
    });
    if (!child) GTEST_SKIP() << "no user namespaces: " << child.error().text();
    child_ = std::make_unique<Child>(*std::move(child));
  }
  std::string map_of(const char* file) const {
    const auto text =
        read_file(at_cwd(), ("/proc/" + std::to_string(child_->pid()) + "/" + file).c_str());
    return text ? *text : text.error().text();
  }

  std::unique_ptr<Child> child_;
};

TEST_F(IdMapOfAChild, MapsTheCallersOwnIds) {
  const std::array uids{IdRange{0, ::geteuid(), 1}};
  const std::array gids{IdRange{0, ::getegid(), 1}};
  EXPECT_EQ(outcome(write_uid_map(child_->pid(), uids)), "ok");
  ASSERT_EQ(outcome(deny_setgroups(child_->pid())), "ok");
  EXPECT_EQ(outcome(write_gid_map(child_->pid(), gids)), "ok");
  EXPECT_NE(map_of("uid_map").find(std::to_string(::geteuid())), std::string::npos);
  EXPECT_EQ(map_of("setgroups"), "deny\n");
  const auto again = write_uid_map(child_->pid(), uids);
  ASSERT_FALSE(again) << "a map is written once";
  EXPECT_EQ(again.error().code(), Errc::denied);
}

TEST_F(IdMapOfAChild, RefusesForeignIdsToTheUnprivileged) {
  constexpr std::array kRanges{IdRange{0, 100000, 1000}};
  if (::geteuid() == 0) {
    EXPECT_EQ(outcome(write_uid_map(child_->pid(), kRanges)), "ok");
    return;
  }
  const auto refused = write_uid_map(child_->pid(), kRanges);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::denied);
}

TEST_F(IdMapOfAChild, RefusesGroupsToTheUnprivilegedBeforeSetgroupsIsDenied) {
  if (::geteuid() == 0) GTEST_SKIP() << "root maps any group";
  const std::array gids{IdRange{0, ::getegid(), 1}};
  EXPECT_FALSE(write_gid_map(child_->pid(), gids));
  ASSERT_TRUE(deny_setgroups(child_->pid()));
  EXPECT_EQ(outcome(write_gid_map(child_->pid(), gids)), "ok");
}

TEST_F(IdMapOfAChild, HelperRefusesWhatItsFileDoesNotGrant) {
  constexpr std::array kForeign{IdRange{0, 3'000'000'000U, 1}};
  const auto refused = run_newuidmap(child_->pid(), kForeign);
  ASSERT_FALSE(refused);
  if (refused.error().code() == Errc::unavailable) GTEST_SKIP() << refused.error().text();
  EXPECT_NE(refused.error().text().find("/usr/bin/newuidmap: exit 1: "), std::string::npos)
      << refused.error().text();
}

TEST_F(IdMapOfAChild, HelperMapsWhatItsFileGrants) {
  const auto file = read_file(at_cwd(), "/etc/subuid");
  const passwd* user = ::getpwuid(::geteuid());
  const auto granted =
      parse_subordinate_ids(file ? *file : "", user != nullptr ? user->pw_name : "", ::geteuid());
  if (granted.empty()) GTEST_SKIP() << "/etc/subuid grants this user nothing";
  const std::array ranges{IdRange{0, granted[0].first, granted[0].count}};
  EXPECT_EQ(outcome(run_newuidmap(child_->pid(), ranges)), "ok");
}

}  // namespace
}  // namespace cordon::os
