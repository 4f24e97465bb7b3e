// SPDX-License-Identifier: Apache-2.0
#include "egress/resolver.h"

#include <gtest/gtest.h>

namespace cordon::egress {
namespace {

TEST(HostsTable, HasTheNamesOfALineAndPassesOverTheRest) {
  const HostsTable table = parse_hosts(
      "# a comment\n"
      "10.1.2.3   DB.corp.example db  # more\n"
      "fd00::1 db.corp.example\n"
      "999.1.1.1 bad.example\n"
      "nonsense\n"
      "10.1.2.4\n"
      "10.1.2.5 a_b.example ok.example\n");
  ASSERT_TRUE(table.contains("db.corp.example"));
  EXPECT_EQ(table.find("db.corp.example")->second.size(), 2U);
  EXPECT_EQ(table.find("db.corp.example")->second[0].text(), "10.1.2.3");
  EXPECT_TRUE(table.contains("db"));
  EXPECT_TRUE(table.contains("ok.example"));
  EXPECT_FALSE(table.contains("bad.example"));
  EXPECT_FALSE(table.contains("a_b.example"));
  EXPECT_EQ(table.size(), 3U);
}

}  // namespace
}  // namespace cordon::egress
