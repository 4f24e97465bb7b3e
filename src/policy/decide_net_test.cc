// SPDX-License-Identifier: Apache-2.0
// Connections and requests: each row is a sentence of the documented rules.
#include <gtest/gtest.h>

#include "policy/policy_text_test.h"

namespace cordon::policy {
namespace {

struct NetRow {
  NetQuery query;
  Effect effect;
  Reason reason;
  std::uint32_t line = 0;  // of the rule; 0: not looked at
};

void expect_net(const Policy& policy, std::initializer_list<NetRow> rows) {
  for (const NetRow& row : rows) {
    const Decision found = policy.decide(row.query);
    const std::string what = std::string{row.query.host} + ":" + std::to_string(row.query.port) +
                             " " + std::string{row.query.method} + " " +
                             std::string{row.query.path};
    EXPECT_EQ(found.effect, row.effect) << what;
    EXPECT_EQ(found.reason, row.reason) << what;
    if (row.line != 0) EXPECT_EQ(found.place.mark.line, row.line) << what;
  }
}
using enum Effect;
using enum Reason;

TEST(NetDecision, IsNoUnlessSomethingIsListed) {
  for (const std::string_view text :
       {"", "[network]\n", "[network]\negress_allowlist = []\n", "[network]\nmode = \"none\"\n",
        "[network]\ningress = [80]\n"}) {
    expect_net(policy_from(text), {{{"a.example"}, deny, network_off},
                                   {{"host.cordon.internal", 80}, deny, network_off}});
  }
  expect_net(policy_from("[network]\nmode = \"restricted\"\n"),
             {{{"a.example"}, deny, host_not_listed}});
}

TEST(NetDecision, TakesOnlyTheOneSpellingOfAHost) {
  const Policy policy = policy_from("[network]\nmode = \"public\"\n");
  for (const std::string_view host :
       {"A.example", "a.example.", "", ".", "a..example", "127.1", "0x7f000001", "2130706433",
        "[::1]", "a.example:443", "a.example/x", "u@a.example", "a b", "01.2.3.4", "*.a.example"}) {
    expect_net(policy, {{{host}, deny, bad_host}});
  }
}

TEST(NetDecision, GoesByTheMostSpecificPattern) {
  const Policy policy = policy_from(R"([network]
egress_allowlist = [
  { host = "*.a.example", why = "wide" },
  { host = "*.x.a.example", methods = ["GET"] },
  { host = "y.x.a.example", methods = ["POST"] },
  { host = "a.example", port = 8443, protocol = "tls" },
  { host = "*.a.example", port = 22, protocol = "tcp" },
]
)");
  expect_net(policy, {
                         {{"b.a.example", 443, "PUT", "/"}, allow, listed, 3},
                         {{"z.x.a.example", 443, "GET", "/"}, allow, listed, 4},
                         {{"z.x.a.example", 443, "PUT", "/"}, deny, method_not_listed, 4},
                         {{"y.x.a.example", 443, "POST", "/"}, allow, listed, 5},
                         {{"y.x.a.example", 443, "GET", "/"}, deny, method_not_listed, 5},
                         {{"w.y.x.a.example", 443, "GET", "/"}, allow, listed, 4},
                         // A wildcard stands for one label or more, never for the name itself.
                         {{"a.example", 443}, deny, host_not_listed, 2},
                         {{"a.example", 8443}, allow, listed, 6},
                         // The most specific that matches host *and* port.
                         {{"y.x.a.example", 22}, allow, listed, 7},
                         {{"ya.example", 443}, deny, host_not_listed},
                         {{"a.example.evil.test", 443}, deny, host_not_listed},
                     });
}

TEST(NetDecision, OfOnePatternTakesAnyRuleThatAllows) {
  const Policy policy = policy_from(R"([network]
egress_allowlist = [
  { host = "a.example", methods = ["GET"] },
  { host = "a.example", methods = ["POST"], paths = ["/up/**"] },
]
)");
  expect_net(policy, {
                         {{"a.example"}, allow, listed, 3},
                         {{"a.example", 443, "GET", "/x"}, allow, listed, 3},
                         {{"a.example", 443, "POST", "/up/x"}, allow, listed, 4},
                         {{"a.example", 443, "POST", "/up"}, deny, url_path_not_listed, 4},
                         {{"a.example", 443, "PUT", "/up/x"}, deny, method_not_listed},
                         {{"a.example", 443, "get", "/x"}, deny, method_not_listed},
                         {{"a.example", 80}, deny, host_not_listed},
                     });
}

TEST(NetDecision, RefusesSpellingsOfAPathThatServersReadDifferently) {
  const Policy policy = policy_from(
      "[network]\negress_allowlist = [{ host = \"a.example\", paths = [\"/pub/**\"] }]");
  for (const std::string_view path : {"/pub/../etc",
                                      "/pub/..",
                                      "/pub/.",
                                      "/pub/./x",
                                      "//pub/x",
                                      "/pub//x",
                                      "/pub/%2e%2e/etc",
                                      "/pub/%2E/x",
                                      "/pub%2fx",
                                      "/pub/%5c",
                                      "/pub/\\x",
                                      "/pub/%41",
                                      "/pub/%00",
                                      "/pub/%0a",
                                      "/pub/%7f",
                                      "/pub/%",
                                      "/pub/%2",
                                      "/pub/%zz",
                                      "/pub/%25",
                                      "/pub/%252e",
                                      "/pub/x;y",
                                      "/pub/x#y",
                                      "/pub/x?y",
                                      "/pub/ x",
                                      "/pub/\x01",
                                      "/pub/\x7f",
                                      "/pub/\xC3\xBC",
                                      "/pub/%c0%ae",
                                      "/pub/%C1%9c",
                                      "/pub/%e0%80%ae",
                                      "/pub/%f0%80%80%ae",
                                      "/pub/<x>",
                                      "/pub/[x]",
                                      "/pub/{x}",
                                      "/pub/|",
                                      "/pub/^",
                                      "/pub/`",
                                      "/pub/\"",
                                      "pub/x",
                                      "",
                                      "*"}) {
    expect_net(policy, {{{"a.example", 443, "GET", path}, deny, unusual_path}});
  }
  expect_net(policy,
             {{{"a.example", 443, "GET", "/pub/" + std::string(9000, 'a')}, deny, unusual_path}});
  for (const std::string_view path :
       {"/pub/x", "/pub/x/", "/pub/...", "/pub/..x", "/pub/%20", "/pub/%C3%BC", "/pub/%e0%a4%b9",
        "/pub/%F0%9F%98%80", "/pub/a:b@c", "/pub/x,y", "/pub/%3F"}) {
    expect_net(policy, {{{"a.example", 443, "GET", path}, allow, listed}});
  }
  expect_net(policy, {{{"a.example", 443, "GET", "/"}, deny, url_path_not_listed},
                      {{"a.example", 443, "GET", "/pub"}, deny, url_path_not_listed},
                      {{"a.example", 443, "GET", "/public/x"}, deny, url_path_not_listed}});
}

TEST(NetDecision, TakesTheRootPathOnlyWhereItIsListed) {
  const Policy policy = policy_from(
      "[network]\negress_allowlist = [{ host = \"a.example\", paths = [\"/\", \"/v*\"] }]");
  expect_net(policy, {{{"a.example", 443, "GET", "/"}, allow, listed},
                      {{"a.example", 443, "GET", "/v1"}, allow, listed},
                      {{"a.example", 443, "GET", "/v1/x"}, allow, listed},
                      {{"a.example", 443, "GET", "/w"}, deny, url_path_not_listed}});
}

TEST(NetDecision, HoldsWebSocketsWhereRequestsAreJudged) {
  const Policy policy = policy_from(R"([network]
egress_allowlist = [
  { host = "a.example", methods = ["GET"] },
  { host = "b.example", methods = ["GET"], websocket = true },
  { host = "c.example" },
]
)");
  const auto upgrade = [](std::string_view host) {
    return NetQuery{.host = host, .method = "GET", .path = "/", .websocket = true};
  };
  expect_net(policy, {{upgrade("a.example"), deny, websocket_not_listed, 3},
                      {upgrade("b.example"), allow, listed, 4},
                      {upgrade("c.example"), allow, listed, 5}});
}

TEST(NetDecision, UnderPublicReachesPublicAddressesOnWebPorts) {
  const Policy policy = policy_from(R"([network]
mode = "public"
egress_allowlist = [
  { host = "git.example", port = 22, protocol = "tcp" },
  { host = "10.0.0.5", addresses = "private" },
  "bad.example",
  { host = "api.example", methods = ["GET"] },
]
egress_denylist = ["bad.example", "*.evil.example", "93.184.216.34"]
)");
  expect_net(policy, {
                         {{"any.example", 443}, allow, public_host, 2},
                         {{"any.example", 80}, allow, public_host},
                         {{"any.example", 22}, deny, port_not_listed},
                         {{"git.example", 22}, allow, listed},
                         {{"1.1.1.1", 443}, allow, public_host},
                         {{"10.0.0.5", 443}, allow, listed},
                         {{"10.0.0.6", 443}, deny, private_address},
                         {{"192.168.0.1", 443}, deny, private_address},
                         {{"169.254.169.254", 80}, deny, private_address},
                         {{"127.0.0.1", 80}, deny, private_address},
                         {{"localhost", 80}, deny, private_address},
                         {{"x.localhost", 80}, deny, private_address},
                         // Deny wins over every rule, and rules judge even where all is open.
                         {{"bad.example", 443}, deny, host_denied, 9},
                         {{"93.184.216.34", 443}, deny, host_denied, 9},
                         {{"x.evil.example", 443}, deny, host_denied},
                         {{"a.b.evil.example", 443}, deny, host_denied},
                         {{"evil.example", 443}, allow, public_host},
                         {{"api.example", 443, "POST", "/"}, deny, method_not_listed},
                         {{"host.cordon.internal", 443}, deny, host_port_not_listed},
                     });
}

TEST(NetDecision, TakesTheNarrowestBlockOfAnAddress) {
  const Policy policy = policy_from(R"([network]
egress_allowlist = [
  { host = "93.184.0.0/16", why = "wide" },
  { host = "93.184.216.0/24", port = 22, protocol = "tcp" },
  { host = "93.184.216.0/24", methods = ["GET"] },
  { host = "93.184.216.34", methods = ["POST"] },
  { host = "10.1.0.0/16", port = 5432, protocol = "tcp", addresses = "private" },
  { host = "100.64.0.0/10", addresses = "private" },
]
)");
  expect_net(policy, {
                         {{"93.184.1.1", 443, "PUT", "/"}, allow, listed, 3},
                         {{"93.184.215.255", 443}, allow, listed, 3},
                         {{"93.184.216.0", 443, "PUT", "/"}, deny, method_not_listed, 5},
                         {{"93.184.216.255", 443, "GET", "/"}, allow, listed, 5},
                         {{"93.184.217.0", 443, "PUT", "/"}, allow, listed, 3},
                         {{"93.184.216.34", 443, "GET", "/"}, deny, method_not_listed, 6},
                         {{"93.184.216.34", 443, "POST", "/"}, allow, listed, 6},
                         // The narrowest that speaks of the port.
                         {{"93.184.216.34", 22}, allow, listed, 4},
                         {{"93.184.1.1", 22}, deny, host_not_listed},
                         {{"93.183.255.255", 443}, deny, host_not_listed},
                         {{"93.185.0.0", 443}, deny, host_not_listed},
                         {{"10.1.255.255", 5432}, allow, listed, 7},
                         {{"10.2.0.0", 5432}, deny, host_not_listed},
                         {{"100.100.100.201", 443}, allow, listed, 8},
                         // In the block, and out of every rule's reach.
                         {{"100.100.100.200", 443}, deny, private_address},
                         {{"93.184.216", 443}, deny, bad_host},
                         {{"93.184.0.0/16", 443}, deny, bad_host},
                     });
  EXPECT_FALSE(policy.decide_name("93.184.216.34").allowed());
}

TEST(NetDecision, RefusesAddressesOfADenyListByWhateverName) {
  const Policy policy = policy_from(R"([network]
mode = "public"
egress_allowlist = [{ host = "93.184.216.34", methods = ["GET"] }]
egress_denylist = ["93.184.0.0/16", "1.1.1.1"]
)");
  expect_net(policy, {{{"93.184.216.34", 443}, deny, host_denied, 4},
                      {{"93.184.255.255", 443}, deny, host_denied, 4},
                      {{"93.185.0.0", 443}, allow, public_host},
                      {{"1.1.1.1", 443}, deny, host_denied, 4},
                      {{"any.example", 443}, allow, public_host}});
  EXPECT_FALSE(policy.decide_address("93.184.0.1").allowed());
  EXPECT_FALSE(policy.decide_address("1.1.1.1").allowed());
  EXPECT_TRUE(policy.decide_address("1.1.1.2").allowed());
  const Policy narrower = narrowed(policy, "[network]\negress_denylist = [\"8.8.8.0/24\"]\n");
  EXPECT_FALSE(narrower.decide_address("8.8.8.8").allowed());
  EXPECT_FALSE(narrower.decide_address("1.1.1.1").allowed());
  EXPECT_TRUE(narrower.decide_address("8.8.4.4").allowed());
}

TEST(NetDecision, AsksAboutUnknownNamesOnly) {
  const Policy policy = policy_from(
      "[network]\nmode = \"restricted\"\nask = true\negress_allowlist = [{ host = \"a.example\", "
      "methods = [\"GET\"] }]\n");
  expect_net(policy, {{{"b.example"}, ask, host_asks, 3},
                      {{"b.example", 22}, ask, host_asks, 3},
                      {{"a.example", 22}, ask, host_asks, 3},
                      {{"a.example", 443, "POST", "/"}, deny, method_not_listed},
                      {{"1.1.1.1"}, deny, host_not_listed},
                      {{"169.254.169.254"}, deny, private_address},
                      {{"localhost"}, deny, private_address},
                      {{"host.cordon.internal", 443}, deny, host_port_not_listed}});
}

TEST(NetDecision, ReachesPortsOfTheHostByOneName) {
  const Policy policy = policy_from("[network]\nhost_ports = [5432, 80]\n");
  expect_net(policy, {{{"host.cordon.internal", 5432}, allow, host_port, 2},
                      {{"host.cordon.internal", 80}, allow, host_port, 2},
                      {{"host.cordon.internal", 443}, deny, host_port_not_listed, 2},
                      {{"x.host.cordon.internal", 80}, deny, host_not_listed},
                      {{"127.0.0.1", 5432}, deny, private_address}});
}

TEST(NetDecision, LooksUpRegistriesThatTheCallerPassesIn) {
  const std::string_view text =
      "[network]\negress_allowlist = [{ host = \"@npm\", methods = [\"GET\"] }, \"@pip\"]\n";
  const Registries registries = {
      {"@npm", {{"packages.example", 443}, {"npm.corp.example", 8443}, {"old.example", 80}}}};
  expect_net(policy_from(text, registries),
             {{{"packages.example", 443, "GET", "/x"}, allow, listed, 2},
              {{"packages.example", 443, "PUT", "/x"}, deny, method_not_listed, 2},
              {{"npm.corp.example", 8443}, allow, listed},
              {{"npm.corp.example", 443}, deny, host_not_listed},
              {{"old.example", 80}, allow, listed},
              {{"index.example", 443}, deny, host_not_listed}});
  // What is not configured allows nothing.
  expect_net(policy_from(text), {{{"packages.example", 443}, deny, host_not_listed}});
  expect_net(policy_from(text, {{"@npm", {}}}),
             {{{"packages.example", 443}, deny, host_not_listed}});
  // Nor does what is configured for a host that no rule may name.
  expect_net(policy_from(text, {{"@npm", {{"*.example.org", 443}, {"127.0.0.1", 443}}}}),
             {{{"a.example.org", 443}, deny, host_not_listed},
              {{"127.0.0.1", 443}, deny, private_address}});
}

TEST(NetDecision, IsLeftAloneByAWorkspaceFileThatDoesNotSpeakOfIt) {
  const Policy policy = policy_from(
      "[network]\negress_allowlist = [\"a.example\", \"b.example\"]\nhost_ports = [80]\n");
  expect_net(narrowed(policy, "[filesystem]\nhide = [\"x\"]\n"),
             {{{"a.example"}, allow, listed}, {{"host.cordon.internal", 80}, allow, host_port}});
  const Policy less = narrowed(policy, "[network]\negress_allowlist = [\"a.example\"]\n");
  expect_net(less, {{{"a.example"}, allow, listed},
                    {{"b.example"}, deny, host_not_listed, 2},
                    {{"c.example"}, deny, host_not_listed, 2},
                    {{"host.cordon.internal", 80}, allow, host_port}});
  EXPECT_EQ(less.decide(NetQuery{"b.example"}).document, 1U);
  EXPECT_EQ(less.decide(NetQuery{"c.example"}).document, 0U);
  for (const std::string_view off :
       {"[network]\nmode = \"none\"\n", "[network]\negress_allowlist = []\n"}) {
    expect_net(narrowed(policy, off), {{{"a.example"}, deny, network_off},
                                       {{"host.cordon.internal", 80}, deny, network_off}});
  }
}

}  // namespace
}  // namespace cordon::policy
