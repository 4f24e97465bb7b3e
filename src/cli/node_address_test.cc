// SPDX-License-Identifier: Apache-2.0
#include "cli/node_address.h"

#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/node_client.h"

namespace cordon::cli {
namespace {

TEST(NodeAddress, IsAPathOrAPortOfThisHost) {
  for (const auto& [text, meant] : std::map<std::string, std::string>{
           {"/run/cordond/cordond.sock", "/run/cordond/cordond.sock"},
           {"node.sock", "node.sock"},
           {"unix:/a/b", "/a/b"},
           {"unix:///a/b", "/a/b"},
           {"http://127.0.0.1:7070", "http://127.0.0.1:7070"},
           {"http://localhost:7070/", "http://127.0.0.1:7070"},
           {"http://[::1]:7070", "http://[::1]:7070"}}) {
    const auto address = parse_node_address(text);
    ASSERT_TRUE(address) << text << ": " << address.error().text();
    EXPECT_EQ(to_string(*address), meant);
  }
}

TEST(NodeAddress, NeverSendsATokenWhereOthersReadIt) {
  for (const char* text :
       {"https://node.example", "http://node.example:7070", "http://10.0.0.1:7070",
        "http://127.0.0.1.example:80", "http://[2001:db8::1]:80"}) {
    const auto address = parse_node_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_NE(address.error().text().find("TLS is not spoken here"), std::string::npos);
  }
}

TEST(NodeAddress, RefusesWhatIsNeither) {
  for (const char* text : {"", "unix:", "tcp://127.0.0.1:1", "http://", "http://a b"})
    EXPECT_FALSE(parse_node_address(text)) << text;
  EXPECT_FALSE(parse_node_address(std::string(200, 'x')));
}

Result<Node> found(const NodeOptions& options, std::map<std::string, std::string> variables) {
  std::ostringstream out;
  Context context{.out = out,
                  .err = out,
                  .environment = [&](const std::string& name) -> std::optional<std::string> {
                    const auto at = variables.find(name);
                    return at == variables.end() ? std::nullopt : std::optional{at->second};
                  }};
  return find_node(options, context);
}

TEST(Node, IsThatOfTheFlagElseOfTheVariableElseTheUsualOne) {
  EXPECT_EQ(found({.node = "flag"}, {{"CORDON_NODE", "variable"}})->address.path, "flag");
  EXPECT_EQ(found({}, {{"CORDON_NODE", "variable"}})->address.path, "variable");
  EXPECT_EQ(found({}, {})->address.path, kUsualNode);
}

TEST(Node, IsToldWhoAsksOnlyWhereSomebodyDoes) {
  EXPECT_TRUE(found({}, {})->fields.empty());
  const auto node = found({.tenant = "acme"}, {{"CORDON_TOKEN", "cdn1_x\n"}});
  ASSERT_TRUE(node);
  EXPECT_EQ(node->fields,
            (http::Fields{{"Authorization", "Bearer cdn1_x"}, {"Cordon-Tenant", "acme"}}));
}

TEST(Node, RefusesATokenThatIsNoneWithoutRepeatingIt) {
  for (const char* token : {"two words", "a\r\nX: y", "\n"}) {
    const auto node = found({}, {{"CORDON_TOKEN", token}});
    ASSERT_FALSE(node) << token;
    EXPECT_EQ(node.error().text(), "CORDON_TOKEN: this is no token; cordon token mint makes one");
  }
}

}  // namespace
}  // namespace cordon::cli
