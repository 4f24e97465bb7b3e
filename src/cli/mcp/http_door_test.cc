// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/http_door.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cordon::cli {
namespace {

int refusal(const std::string& host, const http::Fields& fields) {
  const std::string token = "a token of some length, not a secret";
  http::RequestHead head{.method = "POST", .target = {}, .host = {.host = host, .port = 7777}};
  head.fields = fields;
  return refusal_of(head, sha256({as_bytes(token)}));
}

const http::Field kToken{"Authorization", "Bearer a token of some length, not a secret"};

TEST(HttpDoor, LetsInWhoHoldsTheToken) {
  EXPECT_EQ(refusal("127.0.0.1", {kToken}), 0);
  EXPECT_EQ(refusal("localhost", {kToken, {"Origin", "http://localhost:3000"}}), 0);
  EXPECT_EQ(refusal("127.0.0.1", {}), 401);
  EXPECT_EQ(refusal("127.0.0.1", {{"Authorization", "Bearer another"}}), 401);
  EXPECT_EQ(refusal("127.0.0.1", {kToken, kToken}), 401) << "which of the two?";
}

TEST(HttpDoor, TurnsAwayNamesAndPagesOfOthersBeforeItLooksAtTheToken) {
  EXPECT_EQ(refusal("evil.example", {kToken}), 403);
  EXPECT_EQ(refusal("127.0.0.1.evil.example", {kToken}), 403);
  for (const char* const origin : {"http://evil.example", "null", "http://localhost.evil.example",
                                   "http://localhost@evil.example", "file://", ""}) {
    EXPECT_EQ(refusal("localhost", {kToken, {"Origin", origin}}), 403) << origin;
  }
  const http::Field own{"Origin", "http://localhost"};
  EXPECT_EQ(refusal("localhost", {kToken, own, {"Origin", "http://evil.example"}}), 403);
}

}  // namespace
}  // namespace cordon::cli
