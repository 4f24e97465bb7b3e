// SPDX-License-Identifier: Apache-2.0
// What of a wide policy's connections a narrower one leaves open.
#include "egress/live_connection.h"

#include <gtest/gtest.h>

#include "policy/parse.h"

namespace cordon::egress {
namespace {

policy::Policy policy_of(const std::string& network) {
  auto document =
      policy::parse("version = 1\n[network]\n" + network, "p.toml", policy::Syntax::toml);
  if (!document) throw std::logic_error{document.error().text()};
  auto policy = policy::check(*std::move(document), policy::Origin::user, {});
  if (!policy) throw std::logic_error{policy.error().text() + "\n" + network};
  return *std::move(policy);
}

// As it would be opened under this policy.
LiveConnection opened(const std::string& network, const std::string& host, std::uint16_t port) {
  const auto policy = policy_of(network);
  EXPECT_TRUE(policy.decide(policy::NetQuery{.host = host, .port = port}).allowed()) << network;
  return {.host = host,
          .port = port,
          .passage = policy.passage(host, port).value_or(policy::Passage{})};
}

bool stays(const LiveConnection& connection, const std::string& network) {
  return still_allows(policy_of(network), connection);
}

constexpr auto kApi = R"(egress_allowlist = ["api.example.com:443", "b.example.com:443"])";

TEST(LiveConnection, StaysWhereNothingAboutItHasChanged) {
  const auto tunnel = opened(kApi, "api.example.com", 443);
  EXPECT_TRUE(stays(tunnel, kApi));
  EXPECT_TRUE(stays(tunnel, R"(egress_allowlist = ["api.example.com:443"])"));
  EXPECT_TRUE(stays(tunnel, R"(egress_allowlist = ["*.example.com:443"])"));
}

TEST(LiveConnection, EndsWithItsHostItsPortAndTheNetwork) {
  const auto tunnel = opened(kApi, "api.example.com", 443);
  EXPECT_FALSE(stays(tunnel, R"(egress_allowlist = ["b.example.com:443"])"));
  EXPECT_FALSE(
      stays(tunnel,
            R"(egress_allowlist = [{ host = "api.example.com", port = 8443, protocol = "tls" }])"));
  EXPECT_FALSE(stays(tunnel, std::string{kApi} + "\negress_denylist = [\"api.example.com\"]"));
  EXPECT_FALSE(stays(tunnel, R"(mode = "none")"));
  const auto anywhere = opened(R"(mode = "public")", "any.example.org", 443);
  EXPECT_FALSE(stays(anywhere, kApi));
}

TEST(LiveConnection, EndsWithItsAddressAndItsPortOfTheHost) {
  const std::string literal =
      R"(egress_allowlist = [{ host = "45.33.1.1", port = 8080, protocol = "tcp" }])";
  EXPECT_TRUE(stays(opened(literal, "45.33.1.1", 8080), literal));
  EXPECT_FALSE(stays(opened(literal, "45.33.1.1", 8080), kApi));
  EXPECT_TRUE(stays(opened("host_ports = [8080, 9000]", "host.cordon.internal", 8080),
                    "host_ports = [8080]"));
  EXPECT_FALSE(stays(opened("host_ports = [8080, 9000]", "host.cordon.internal", 9000),
                     "host_ports = [8080]"));
}

TEST(LiveConnection, EndsWhereItWouldBeOpenedInAnotherWay) {
  const auto passed = opened(kApi, "api.example.com", 443);
  const std::string judged =
      R"(egress_allowlist = [{ host = "api.example.com", methods = ["GET"] }])";
  const std::string tcp =
      R"(egress_allowlist = [{ host = "api.example.com", port = 443, protocol = "tcp" }])";
  EXPECT_FALSE(stays(passed, judged)) << "what was passed unread is judged now";
  EXPECT_FALSE(stays(opened(judged, "api.example.com", 443), kApi));
  EXPECT_FALSE(stays(opened(tcp, "api.example.com", 443), kApi)) << "it has shown no name";
  const auto rule = [](const char* more) {
    return std::string{R"(egress_allowlist = [{ host = "db.example.com", port = 5432, )"} +
           R"(protocol = "tcp")" + more + " }]";
  };
  const auto inward = opened(rule(R"(, addresses = "private")"), "db.example.com", 5432);
  EXPECT_TRUE(stays(inward, rule(R"(, addresses = "private")")));
  EXPECT_FALSE(stays(inward, rule(""))) << "it may have been dialled inward";
}

TEST(LiveConnection, EndsWithTheRequestThatItCarries) {
  const auto rule = [](const char* more) {
    return std::string{R"(egress_allowlist = [{ host = "api.example.com", )"} + more + " }]";
  };
  const std::string wide = rule(R"(methods = ["GET", "POST"], paths = ["/a/**", "/b"])");
  auto session = opened(wide, "api.example.com", 443);
  const std::string narrow = rule(R"(methods = ["GET"], paths = ["/a/**"])");
  EXPECT_TRUE(stays(session, narrow)) << "its next request is judged by itself";
  session.request = LiveRequest{.method = "GET", .path = "/a/long"};
  EXPECT_TRUE(stays(session, narrow));
  session.request = LiveRequest{.method = "POST", .path = "/a/long"};
  EXPECT_TRUE(stays(session, wide));
  EXPECT_FALSE(stays(session, narrow));
  session.request = LiveRequest{.method = "GET", .path = "/b"};
  EXPECT_FALSE(stays(session, narrow));
}

TEST(LiveConnection, OfAWebSocketEndsWithTheWordForIt) {
  const auto rule = [](const char* more) {
    return std::string{R"(egress_allowlist = [{ host = "api.example.com", paths = ["/chat"])"} +
           more + " }]";
  };
  auto session = opened(rule(", websocket = true"), "api.example.com", 443);
  EXPECT_TRUE(stays(session, rule(""))) << "it has none open";
  session.request = LiveRequest{.method = "GET", .path = "/chat", .websocket = true};
  EXPECT_TRUE(stays(session, rule(", websocket = true")));
  EXPECT_FALSE(stays(session, rule("")));
}

TEST(LiveConnection, EndsWithTheGrantOfItsRequest) {
  const auto with = [](const char* paths) {
    return std::string{R"(egress_allowlist = [{ host = "api.example.com", methods = ["GET"] }])"} +
           "\n[[credentials.grants]]\nname = \"one\"\nenv = \"T\"\nfrom = \"env:T\"\n"
           "host = \"api.example.com\"\nheader = \"Authorization: {secret}\"\npaths = [" +
           paths + "]\n";
  };
  auto session = opened(with(R"("/a", "/b")"), "api.example.com", 443);
  session.request = LiveRequest{.method = "GET", .path = "/a", .grant = "one"};
  EXPECT_TRUE(stays(session, with(R"("/a")")));
  EXPECT_FALSE(stays(session, with(R"("/b")")));
  EXPECT_FALSE(
      stays(session, R"(egress_allowlist = [{ host = "api.example.com", methods = ["GET"] }])"));
  session.request->grant.clear();
  EXPECT_TRUE(stays(session, with(R"("/b")"))) << "it carries none";
}

}  // namespace
}  // namespace cordon::egress
