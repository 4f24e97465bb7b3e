// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup_file.h"

#include <gtest/gtest.h>

namespace cordon::os {
namespace {

TEST(CgroupFile, ReadsNumbersAndTakesMaxForNone) {
  EXPECT_EQ(parse_number("42\n"), 42U);
  EXPECT_EQ(parse_number("0"), 0U);
  EXPECT_EQ(parse_number("18446744073709551615\n"), UINT64_MAX);
  for (const char* odd : {"max\n", "", "-1", "12x", "18446744073709551616", " 1"}) {
    EXPECT_EQ(parse_number(odd), std::nullopt) << odd;
  }
}

TEST(CgroupFile, FindsAKeyOnlyAsAWholeWord) {
  constexpr std::string_view kText = "oom 1\noom_kill 2\noom_group_kill 3\nlast 4";
  EXPECT_EQ(parse_keyed(kText, "oom"), 1U);
  EXPECT_EQ(parse_keyed(kText, "oom_kill"), 2U);
  EXPECT_EQ(parse_keyed(kText, "last"), 4U);
  EXPECT_EQ(parse_keyed(kText, "kill"), std::nullopt);
  EXPECT_EQ(parse_keyed("", "x"), std::nullopt);
}

TEST(CgroupFile, LeavesOutProcessesThatOurNamespaceDoesNotShow) {
  EXPECT_EQ(parse_pids("1\n0\n77\n"), (std::vector<pid_t>{1, 77}));
  EXPECT_TRUE(parse_pids("").empty());
}

}  // namespace
}  // namespace cordon::os
