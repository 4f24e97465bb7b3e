// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_words.h"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace cordon::cli {
namespace {

namespace json = boost::json;

const std::vector<GatewayState> kServing{{"/run/gateway.sock", "serving", "0.1.0"}};

FleetNode node(std::uint64_t number, std::string standing, bool has_lease = true) {
  return {.name = "1." + std::to_string(number),
          .address = "192.0.2.1:8443",
          .standing = std::move(standing),
          .has_lease = has_lease,
          .cell = 1,
          .start = 7,
          .slots = 10,
          .free = 6,
          .sandboxes = 4};
}

FleetNode drained(FleetNode node) {
  node.is_draining = true;
  node.free = 0;
  node.sandboxes.reset();
  return node;
}

FleetView of(std::vector<FleetNode> nodes, bool is_frozen = false) {
  return {.nodes = std::move(nodes), .cells = {{1, is_frozen}}, .revocations = 3};
}

// What is wrong, as one text.
std::string wrong(const FleetView& view, const std::vector<GatewayState>& gateways = kServing) {
  std::string text;
  for (const Trouble& trouble : troubles_of(view, gateways)) {
    EXPECT_FALSE(trouble.next.empty()) << trouble.what;
    text += trouble.what + '\n';
  }
  return text;
}

TEST(FleetView, IsWhatAGatewaySays) {
  const FleetView view = read_fleet(json::parse(R"({"nodes":[{"cell":7,"node":42,
    "address":"192.0.2.42:8443","standing":"kept","has_lease":true,"start":5,"slots":200,"free":198,"draining":true}],
    "cells":[{"cell":7,"frozen":true}],"revocations":2})"));
  ASSERT_EQ(view.nodes.size(), 1U);
  EXPECT_EQ(view.nodes[0].name, "7.42");
  // Nothing is free there, whatever it has.
  EXPECT_EQ(view.nodes[0].sandboxes, std::nullopt);
  EXPECT_EQ(state_of(view.nodes[0]), "draining");
  EXPECT_TRUE(is_frozen(view, 7));
  EXPECT_FALSE(is_frozen(view, 8));
  EXPECT_EQ(view.revocations, 2U);
}

TEST(FleetView, TellsHowAReleaseOfThePolicyGetsOn) {
  FleetView view = of({node(1, "placeable"), node(2, "placeable")});
  view.policy = read_policy(json::parse(R"({"stage":"stopped","release":5,"before":4,
    "why":"node 1.1 refused it: release 5:2:1: unknown key","nodes":[
    {"node":"1.1","present":true,"meant":4,"release":4,"refused":5,"why":"release 5:2:1: unknown key"},
    {"node":"1.2","present":true,"meant":4,"release":4}]})"));
  EXPECT_EQ(
      wrong(view),
      "release 5 of the policy was stopped: node 1.1 refused it: release 5:2:1: unknown key\n");
  const std::string text = policy_text(*view.policy);
  EXPECT_NE(text.find("1.1 runs release 4; refused release 5: release 5:2:1"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("1.2"), std::string::npos) << text;
  // What was wanted is not wrong, nor is what goes on.
  view.policy->why = "taken back by the gateway's own socket";
  EXPECT_EQ(wrong(view), "");
  view.policy->stage = "canary";
  EXPECT_EQ(wrong(view), "");
  EXPECT_NE(
      fleet_text(view, kServing).find("release 5 is being rolled out (canary), behind release 4"),
      std::string::npos);
}

TEST(FleetView, ANodeThatCannotTakeWhatAllHaveIsWrong) {
  FleetView view = of({node(1, "placeable")});
  view.policy = read_policy(json::parse(R"({"stage":"whole","release":5,"before":4,"nodes":[
    {"node":"1.1","present":true,"meant":5,"release":0,"refused":5,"why":"no"},
    {"node":"1.2","present":true,"meant":5,"release":5}]})"));
  EXPECT_EQ(wrong(view), "1 node that cannot take release 5 of the policy: 1.1\n");
  view.policy->nodes.front().release = 5;
  EXPECT_EQ(wrong(view), "");
}

TEST(FleetView, WhatANodeSaysItHasCountsMoreThanItsSlots) {
  const FleetNode told = read_fleet_node(json::parse(
      R"({"cell":1,"node":2,"standing":"kept","slots":10,"free":0,"draining":true,"sandboxes":3})"));
  EXPECT_EQ(node_words(told), "1.2 draining, 3 sandboxes");
  const FleetNode counted = read_fleet_node(json::parse(
      R"({"cell":1,"node":2,"standing":"placeable","slots":10,"free":9,"draining":false})"));
  EXPECT_EQ(node_words(counted), "1.2 placeable, 1 sandbox");
}

TEST(FleetView, OfAGatewayThatTellsNoCellsIsWithoutThem) {
  const FleetView view = read_fleet(json::parse(R"({"nodes":[]})"));
  EXPECT_TRUE(view.cells.empty());
  EXPECT_EQ(view.revocations, std::nullopt);
  EXPECT_TRUE(read_fleet(json::parse("[]")).nodes.empty());
}

TEST(FleetView, ANodeByItselfHasItsNameAndMayHaveNoSlots) {
  const FleetNode plain =
      read_single_node(json::parse(R"({"name":"here","sandboxes":3,"draining":false})"), "/sock");
  EXPECT_EQ(node_words(plain), "here placeable, 3 sandboxes");
  // A slot is taken before the sandbox is there.
  const FleetNode placed = read_single_node(
      json::parse(
          R"({"name":"node-1-2","cell":1,"node":2,"sandboxes":0,"slots":5,"free":4,"draining":true})"),
      "/sock");
  EXPECT_EQ(node_words(placed), "1.2 draining, 1 sandbox");
}

TEST(FleetWords, NodesAreATable) {
  FleetNode alone =
      read_single_node(json::parse(R"({"name":"a\u001b","sandboxes":1,"start":2})"), "/sock");
  EXPECT_EQ(nodes_text({node(1, "placeable"), node(2, "dead", false), drained(node(3, "kept")),
                        std::move(alone)}),
            "NODE    STANDING    SLOTS   FREE   LEASE   START   ADDRESS\n"
            "1.1     placeable   10      6      yes     7       192.0.2.1:8443\n"
            "1.2     dead        10      6      no      7       192.0.2.1:8443\n"
            "1.3     draining    10      0      yes     7       192.0.2.1:8443\n"
            "a\\x1b   placeable   -       -      -       2       /sock\n");
}

TEST(FleetWords, OfManyNodesTheFirstAreNamed) {
  std::vector<FleetNode> nodes;
  for (std::uint64_t number = 1; number <= 10; ++number) nodes.push_back(node(number, "kept"));
  EXPECT_EQ(names_words(nodes), "1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8 and 2 more");
  nodes.resize(2);
  EXPECT_EQ(names_words(nodes), "1.1, 1.2");
}

TEST(FleetWords, AFleetIsOneScreen) {
  EXPECT_EQ(fleet_text(of({node(1, "placeable"), drained(node(2, "kept"))}), kServing),
            "gateway    /run/gateway.sock, serving, cordon 0.1.0\n"
            "nodes      2: 1 placeable, 1 draining\n"
            "slots      20: 6 free (30 %)\n"
            "revoked    3 tokens\n"
            "\n"
            "CELL   NODES   PLACEABLE   SLOTS   FREE   FROZEN\n"
            "1      2       1           20      6      no\n"
            "\n"
            "all is well\n");
}

TEST(FleetWords, WhatIsWrongIsToldWithWhatToDoNext) {
  const std::string text =
      fleet_text(of({node(1, "placeable"), node(2, "kept", false), node(3, "kept", false)}),
                 {{"/run/gateway.sock", "serving", "0.1.0"}, {"/run/other.sock", "", ""}});
  EXPECT_NE(text.find("gateway    /run/other.sock, does not answer\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nwrong  2 nodes without lease: 1.2, 1.3\n  next cordon-registrar"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nwrong  the gateway at /run/other.sock does not answer\n  next start"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("all is well"), std::string::npos);
}

TEST(FleetWords, AGatewayThatTellsNoCellsIsNotBelievedToHaveNoFrozenOnes) {
  FleetView view = of({node(1, "placeable")});
  view.cells.clear();
  EXPECT_NE(fleet_text(view, kServing).find("6      -\n"), std::string::npos);
  const json::value cells = fleet_json(view, kServing, json::array{}).at("cells");
  EXPECT_FALSE(cells.at(0).as_object().contains("frozen"));
}

TEST(FleetWords, MachinesGetTheSame) {
  const json::value well = fleet_json(of({node(1, "placeable")}), kServing, json::array{});
  EXPECT_TRUE(well.at("well").as_bool());
  EXPECT_EQ(well.at("cells"), json::parse(R"([{"cell":1,"nodes":1,"placeable":1,"slots":10,
    "free":6,"frozen":false}])"));
  const json::value ill = fleet_json(of({node(1, "dead", false)}), {{"/a", "", ""}}, json::array{});
  EXPECT_FALSE(ill.at("well").as_bool());
  EXPECT_EQ(ill.at("gateways").at(0).at("status"), "away");
  EXPECT_EQ(ill.at("wrong").as_array().size(), 3U);
}

TEST(FleetTroubles, AreNoneWhereANodeDrainsOrHasGoneAfterIt) {
  EXPECT_EQ(wrong(of({node(1, "placeable"), drained(node(2, "kept")),
                      drained(node(3, "kept", false)), drained(node(4, "dead", false))})),
            "");
}

TEST(FleetTroubles, OfEachKindHaveTheirWords) {
  EXPECT_EQ(wrong(of({node(1, "placeable"), node(2, "kept")})),
            "1 node with a lease and without an answer: 1.2\n");
  EXPECT_EQ(wrong(of({node(1, "placeable"), node(2, "kept", false)})),
            "1 node without lease: 1.2\n");
  EXPECT_EQ(wrong(of({})), "no node is known\n");
  EXPECT_EQ(wrong(of({drained(node(1, "kept"))})), "no node takes new sandboxes\n");
  FleetNode full = node(1, "placeable");
  full.free = 0;
  EXPECT_EQ(wrong(of({full})), "no slot is free: creates are refused\n");
  EXPECT_EQ(wrong(of({node(1, "placeable")}), {{"/a", "draining", "1"}}),
            "the gateway at /a is ending\n");
}

TEST(FleetTroubles, OfAFrozenCellAreOne) {
  EXPECT_EQ(wrong(of({node(1, "placeable", false), node(2, "placeable", false)}, true)),
            "cell 1 is frozen, 2 of its 2 nodes without lease: its etcd was away, or still is\n");
}

}  // namespace
}  // namespace cordon::cli
