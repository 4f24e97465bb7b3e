// SPDX-License-Identifier: Apache-2.0
#include "gate/origin.h"

#include <gtest/gtest.h>

namespace cordon::gate {
namespace {

http::RequestHead asking(std::initializer_list<const char*> origins, bool upgrades = true) {
  http::RequestHead head{.method = "GET", .target = {}, .host = {}};
  if (upgrades) {
    head.fields.push_back({"Connection", "Upgrade"});
    head.fields.push_back({"Upgrade", "websocket"});
  }
  for (const char* origin : origins) head.fields.push_back({"oRIGIN", origin});
  return head;
}

TEST(Origin, OfNoBrowserIsNoneAndPasses) { EXPECT_TRUE(check_origin(asking({}), {})); }

TEST(Origin, IsRefusedUnlessItWasNamed) {
  const std::vector<std::string> named{"https://desk.example.com"};
  EXPECT_TRUE(check_origin(asking({"https://desk.example.com"}), named));
  for (const char* other :
       {"https://evil.example", "http://desk.example.com", "https://desk.example.com:8443", "null",
        "https://desk.example.com.evil.example", "https://DESK.example.com", "", "*"}) {
    const auto checked = check_origin(asking({other}), named);
    ASSERT_FALSE(checked) << other;
    EXPECT_EQ(checked.error().code(), Errc::denied) << other;
  }
  EXPECT_FALSE(check_origin(asking({"https://desk.example.com"}), {}));
  EXPECT_FALSE(
      check_origin(asking({"https://desk.example.com", "https://desk.example.com"}), named));
}

TEST(Origin, IsAskedOfUpgradesHoweverTheyAreSpelt) {
  auto half = asking({"https://evil.example"}, false);
  EXPECT_TRUE(check_origin(half, {}));
  half.fields.push_back({"Upgrade", "h2c"});
  EXPECT_FALSE(check_origin(half, {}));
}

}  // namespace
}  // namespace cordon::gate
