// SPDX-License-Identifier: Apache-2.0
#include "fleet/way.h"

#include <gtest/gtest.h>

namespace cordon::fleet {
namespace {

using Kind = Way::Kind;

Way way(std::string method, std::string path, http::Fields fields = {}, std::string host = "g") {
  return way_of({.method = std::move(method),
                 .target = {.path = std::move(path)},
                 .host = {.host = std::move(host), .port = {}},
                 .fields = std::move(fields)});
}

TEST(Way, OfASandboxIsToTheNodeThatItsNameSays) {
  for (const char* path : {"/v1/sandboxes/abc", "/v1/sandboxes/abc/files/list",
                           "/v1/sandboxes/abc/ports/80/v1/sandboxes/other"}) {
    EXPECT_EQ(way("GET", path), (Way{.kind = Kind::sandbox, .sandbox = "abc"})) << path;
  }
  for (const char* path : {"/sandboxes/abc/timeout", "/v2/sandboxes/abc/connect"}) {
    EXPECT_EQ(way("POST", path), (Way{.kind = Kind::sandbox, .sandbox = "abc", .is_e2b = true}))
        << path;
  }
}

TEST(Way, InsideASandboxIsJudgedByItsNode) {
  const Way inside{.kind = Kind::sandbox, .sandbox = "abc", .is_e2b = true, .is_open = true};
  EXPECT_EQ(way("GET", "/files", {}, "49983-abc.any.example"), inside);
  EXPECT_EQ(way("POST", "/v1/run", {}, "3000-abc.any.example"), inside);
  EXPECT_EQ(way("POST", "/v1/sandboxes", {{"e2b-sandbox-id", "abc"}}), inside);
}

// Nobody gets past the gate of the gateway with a second name: it is nobody's.
TEST(Way, OfTwoNamesIsToNoSandbox) {
  const Way two = way("GET", "/", {{"E2b-Sandbox-Id", "abc"}, {"E2b-Sandbox-Id", "abd"}});
  EXPECT_EQ(two.kind, Kind::sandbox);
  EXPECT_EQ(two.sandbox, "");
}

TEST(Way, OfOthersFollowsFromPathAndMethod) {
  EXPECT_EQ(way("POST", "/v1/run").kind, Kind::create);
  EXPECT_EQ(way("POST", "/v1/sandboxes").kind, Kind::create);
  EXPECT_EQ(way("GET", "/v1/sandboxes").kind, Kind::sandboxes);
  EXPECT_EQ(way("PUT", "/v1/secrets/github").kind, Kind::all);
  EXPECT_EQ(way("GET", "/v1/secrets").kind, Kind::home);
  EXPECT_EQ(way("POST", "/v1/fleet/nodes/7.42/drain").kind, Kind::own);
  EXPECT_EQ(way("GET", "/v1/fleets").kind, Kind::anywhere);
  EXPECT_EQ(way("GET", "/v1/sandboxes/").kind, Kind::anywhere);
  EXPECT_EQ(way("PUT", "/v1/sandboxes").kind, Kind::anywhere);
  EXPECT_EQ(way("GET", "/nowhere").kind, Kind::anywhere);
  EXPECT_EQ(way("POST", "/v3/templates").kind, Kind::home);
  EXPECT_EQ(way("GET", "/files").kind, Kind::nowhere);
}

}  // namespace
}  // namespace cordon::fleet
