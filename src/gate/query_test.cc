// SPDX-License-Identifier: Apache-2.0
#include "gate/query.h"

#include <gtest/gtest.h>

namespace cordon::gate {
namespace {

TEST(QueryString, IsNamesAndValues) {
  const auto query = read_query("path=%2Fa%20b+c&limit=3&empty=");
  ASSERT_TRUE(query);
  EXPECT_EQ(*query, (Query{{"path", "/a b+c"}, {"limit", "3"}, {"empty", ""}}));
  EXPECT_TRUE(read_query("")->empty());
}

TEST(QueryString, ThatCanBeReadInTwoWaysIsRefused) {
  for (const char* text :
       {"a=1&a=2", "a=1&%61=2", "a", "=1", "a=%", "a=%4", "a=%zz", "a=%00", "&", "a=1&&b=2"}) {
    EXPECT_FALSE(read_query(text)) << text;
  }
  std::string many;
  for (int i = 0; i < 33; ++i) many += "n" + std::to_string(i) + "=1&";
  many.pop_back();
  EXPECT_FALSE(read_query(many));
}

}  // namespace
}  // namespace cordon::gate
