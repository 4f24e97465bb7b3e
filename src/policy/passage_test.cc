// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "policy/policy_text_test.h"

namespace cordon::policy {
namespace {

constexpr std::string_view kListed = R"([network]
egress_allowlist = [
  "api.a.example:443",
  { host = "*.b.example", methods = ["GET"] },
  { host = "git.a.example", port = 22, protocol = "tcp" },
  { host = "db.a.example", port = 5432, protocol = "tcp", addresses = "private" },
  { host = "two.a.example", methods = ["GET"], paths = ["/x/**"] },
  "two.a.example:443",
  "plain.a.example:80",
]
egress_denylist = ["no.b.example"]
)";

TEST(NameDecision, AllowsNamesThatAreReachableOnSomePort) {
  const Policy policy = policy_from(kListed);
  for (const std::string_view name :
       {"api.a.example", "x.b.example", "git.a.example", "db.a.example", "plain.a.example"}) {
    EXPECT_TRUE(policy.decide_name(name).allowed()) << name;
  }
  for (const std::string_view name :
       {"a.example", "b.example", "no.b.example", "xapi.a.example", "api.a.example.evil.example",
        "localhost", "host.cordon.internal", "93.184.216.34", "API.a.example", "api.a.example."}) {
    EXPECT_FALSE(policy.decide_name(name).allowed()) << name;
  }
}

TEST(NameDecision, IsTheMeetOverAllDocuments) {
  const Policy policy = policy_from(kListed);
  const Policy narrower =
      narrowed(policy, "[network]\negress_allowlist = [\"api.a.example:443\"]\n");
  EXPECT_TRUE(narrower.decide_name("api.a.example").allowed());
  EXPECT_FALSE(narrower.decide_name("git.a.example").allowed());
  EXPECT_FALSE(
      narrowed(policy, "[network]\nmode = \"none\"\n").decide_name("api.a.example").allowed());
}

TEST(NameDecision, OpensEveryPublicNameWhereTheModeIsPublic) {
  const Policy policy =
      policy_from("[network]\nmode = \"public\"\negress_denylist = [\"*.bad.example\"]\n");
  EXPECT_TRUE(policy.decide_name("any.example").allowed());
  EXPECT_FALSE(policy.decide_name("x.bad.example").allowed());
}

TEST(NameDecision, NamesTheHostWherePortsOfItAreOpen) {
  EXPECT_TRUE(policy_from("[network]\nhost_ports = [5432]\n")
                  .decide_name("host.cordon.internal")
                  .allowed());
}

TEST(Passage, SaysHowAConnectionMustSpeak) {
  const Policy policy = policy_from(kListed);
  EXPECT_EQ(policy.passage("api.a.example", 443), (Passage{.protocol = Protocol::tls}));
  EXPECT_EQ(policy.passage("x.b.example", 443),
            (Passage{.protocol = Protocol::tls, .judged = true}));
  EXPECT_EQ(policy.passage("git.a.example", 22), (Passage{.protocol = Protocol::tcp}));
  EXPECT_EQ(policy.passage("db.a.example", 5432),
            (Passage{.protocol = Protocol::tcp, .addresses = Addresses::private_}));
  EXPECT_EQ(policy.passage("plain.a.example", 80), (Passage{.protocol = Protocol::http}));
  // One of its rules is content with every request.
  EXPECT_EQ(policy.passage("two.a.example", 443), (Passage{.protocol = Protocol::tls}));
}

TEST(Passage, IsWhatEveryDocumentAllows) {
  const Policy policy = policy_from(kListed);
  const Policy judged = narrowed(
      policy,
      "[network]\negress_allowlist = [{ host = \"api.a.example\", methods = [\"GET\"] }]\n");
  EXPECT_EQ(judged.passage("api.a.example", 443),
            (Passage{.protocol = Protocol::tls, .judged = true}));
  // Nothing private is left where one document does not say so.
  const Policy open = narrowed(policy,
                               "[network]\negress_allowlist = [{ host = \"db.a.example\", port = "
                               "5432, protocol = \"tls\" }]\n");
  EXPECT_EQ(open.passage("db.a.example", 5432), (Passage{.protocol = Protocol::tls}));
  const Policy torn = narrowed(policy,
                               "[network]\negress_allowlist = [{ host = \"plain.a.example\", port "
                               "= 80, protocol = \"tls\" }]\n");
  EXPECT_EQ(torn.passage("plain.a.example", 80), std::nullopt);
}

TEST(Passage, LetsNothingBecomeAWebSocketUnlessARuleSaysSo) {
  const Policy policy = policy_from(R"([network]
egress_allowlist = [
  { host = "a.example", port = 80, protocol = "http" },
  { host = "b.example", port = 80, protocol = "http", websocket = true },
]
)");
  EXPECT_FALSE(policy.passage("a.example", 80).value_or(Passage{.websocket = true}).websocket);
  EXPECT_TRUE(policy.passage("b.example", 80).value_or(Passage{}).websocket);
  const Policy public_web = policy_from("[network]\nmode = \"public\"\n");
  EXPECT_FALSE(public_web.passage("a.example", 80).value_or(Passage{.websocket = true}).websocket);
  const Policy narrower = narrowed(
      policy,
      "[network]\negress_allowlist = [{ host = \"b.example\", port = 80, protocol = \"http\" }]\n");
  EXPECT_FALSE(narrower.passage("b.example", 80).value_or(Passage{.websocket = true}).websocket);
}

TEST(Passage, IsJudgedWhereACredentialIsBoundToTheHost) {
  const Policy policy = policy_from(R"([network]
egress_allowlist = ["api.a.example:443"]
[[credentials.grants]]
name = "a"
env = "A_TOKEN"
from = "env:A_TOKEN"
host = "api.a.example"
header = "Authorization: Bearer {secret}"
)");
  EXPECT_EQ(policy.passage("api.a.example", 443),
            (Passage{.protocol = Protocol::tls, .judged = true}));
}

}  // namespace
}  // namespace cordon::policy
