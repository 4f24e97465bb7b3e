// SPDX-License-Identifier: Apache-2.0
#include "fleet/rollout.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "fleet/summary.h"

namespace cordon::fleet {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr NodeId kFirstNode{1, 1};
constexpr NodeId kSecondNode{1, 2};
constexpr NodeId kFar{2, 1};
constexpr sys_seconds kPushedAt{seconds{1'800'000'000}};
const std::vector<std::uint16_t> kCells{1, 2};

Rollout pushed() {
  return begin_rollout({}, {}, {.canaries = {kFirstNode}, .soak = seconds{10}, .sha256 = "00"});
}

std::vector<NodeRelease> running(std::uint64_t one, std::uint64_t two, std::uint64_t far) {
  return {{.node = kFirstNode, .is_present = true, .release = one},
          {.node = kSecondNode, .is_present = true, .release = two},
          {.node = kFar, .is_present = true, .release = far}};
}

// After the soak of the stage that all of it run.
Rollout after_soak(const Rollout& now, const std::vector<NodeRelease>& nodes) {
  const Step first = advance(now, nodes, kCells, kPushedAt);
  EXPECT_EQ(first.next.since, kPushedAt) << first.words;
  EXPECT_EQ(advance(first.next, nodes, kCells, kPushedAt + seconds{9}).next, first.next);
  return advance(first.next, nodes, kCells, kPushedAt + seconds{10}).next;
}

TEST(Rollout, GoesToCanariesThenFromCellToCell) {
  Rollout rollout = pushed();
  EXPECT_EQ(release_for(rollout, kFirstNode), 1U);
  EXPECT_EQ(release_for(rollout, kSecondNode), 0U);
  EXPECT_EQ(advance(rollout, running(0, 0, 0), kCells, kPushedAt).words, "waiting for 1.1");
  rollout = after_soak(rollout, running(1, 0, 0));
  EXPECT_EQ(rollout.cells, std::vector<std::uint16_t>{1});
  EXPECT_EQ(release_for(rollout, kSecondNode), 1U);
  EXPECT_EQ(release_for(rollout, kFar), 0U);
  rollout = after_soak(rollout, running(1, 1, 0));
  EXPECT_EQ(release_for(rollout, kFar), 1U);
  rollout = after_soak(rollout, running(1, 1, 1));
  EXPECT_EQ(rollout.stage, Stage::whole);
  EXPECT_TRUE(advance(rollout, {}, kCells, kPushedAt).is_over);
}

TEST(Rollout, StopsWhereACanaryRefusesAndTakesEverybodyBack) {
  Rollout last = pushed();
  last.stage = Stage::whole;
  const Rollout rollout =
      begin_rollout(last, running(1, 1, 1), {.canaries = {kFirstNode}, .sha256 = "11"});
  EXPECT_EQ(rollout.release, 2U);
  EXPECT_EQ(release_for(rollout, kSecondNode), 1U);
  auto nodes = running(1, 1, 1);
  nodes[0].refused = 2;
  nodes[0].why = "line 3";
  const Step step = advance(rollout, nodes, kCells, kPushedAt);
  EXPECT_TRUE(step.is_over);
  EXPECT_EQ(step.next.why, "node 1.1 refused it: line 3");
  for (const NodeId node : {kFirstNode, kSecondNode, kFar})
    EXPECT_EQ(release_for(step.next, node), 1U);
  // The next one has a number of its own, and goes back to the same.
  const Rollout next = begin_rollout(step.next, nodes, {.canaries = {kFirstNode}});
  EXPECT_EQ(next.release, 3U);
  EXPECT_EQ(next.before, 1U);
}

TEST(Rollout, StopsWhereCreatesAreTurnedAwayUnlessThatWasWanted) {
  Rollout rollout = pushed();
  auto nodes = running(1, 0, 0);
  nodes[0].turned_away = 1;
  EXPECT_EQ(advance(rollout, nodes, kCells, kPushedAt).next.stage, Stage::stopped);
  // What was turned away by an earlier release is not this one's fault.
  nodes[0].release = 0;
  EXPECT_EQ(advance(rollout, nodes, kCells, kPushedAt).next.stage, Stage::canary);
  nodes[0].release = 1;
  rollout.may_turn_away = true;
  EXPECT_EQ(advance(rollout, nodes, kCells, kPushedAt).next.stage, Stage::canary);
}

TEST(Rollout, WaitsForCanariesThatAreAwayAndForNobodyElse) {
  auto nodes = running(0, 0, 0);
  nodes[0].is_present = false;
  EXPECT_EQ(advance(pushed(), nodes, kCells, kPushedAt).words, "waiting for 1.1");
  EXPECT_EQ(advance(pushed(), {}, kCells, kPushedAt).words, "waiting for 1.1");
  const Rollout rolling = after_soak(pushed(), running(1, 0, 0));
  nodes = running(1, 0, 0);
  nodes[1].is_present = false;
  EXPECT_EQ(advance(rolling, nodes, kCells, kPushedAt).next.since, kPushedAt);
  // One that goes in the middle of the soak has it begin anew.
  Rollout soaking = pushed();
  soaking.since = kPushedAt;
  EXPECT_EQ(advance(soaking, running(0, 0, 0), kCells, kPushedAt + seconds{60}).next.since,
            sys_seconds{});
}

TEST(Rollout, AfterALossOfDataLeavesNodesWhatTheyRun) {
  const Rollout rollout = begin_rollout({}, running(7, 6, 7), {.canaries = {kFirstNode}});
  EXPECT_EQ(rollout.release, 8U);
  EXPECT_EQ(release_for(rollout, kFar), 7U);
}

TEST(Rollout, IsTheSameOnceWritten) {
  Rollout rollout = rolled_back(pushed(), "node 1.1 refused it:\n\x1b[31m");
  EXPECT_EQ(rollout.why, "node 1.1 refused it:??[31m");
  rollout.cells = {1, 65535};
  const auto read = decode_rollout(encode(rollout));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, rollout);
}

TEST(Rollout, ThatCannotBeIsRefused) {
  const std::string good = encode(pushed());
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  ASSERT_TRUE(decode_rollout(good));
  for (const std::string& text :
       {with("\"release\":1", "\"release\":0"), with("\"before\":0", "\"before\":1"),
        with("canary\"", "cannery\""), with("[\"1.1\"]", "[]"), with("[\"1.1\"]", "[\"1\"]"),
        with("\"soak\":10", "\"soak\":-1"), with("\"format\":1", "\"format\":2"),
        with("\"cells\":[]", "\"cells\":[\"01\"]"), with("\"cells\":[]", "\"cells\":[1]"),
        std::string{"[]"}, std::string{}, std::string(70'000, ' ')}) {
    EXPECT_FALSE(decode_rollout(text)) << text;
  }
  EXPECT_EQ(release_of(release_key(7)), 7U);
  for (const std::string_view key :
       {"/cordon/policy/releases/07", "/cordon/policy/releases/0", "/cordon/policy/rollout",
        "/cordon/policy/releases/7/", "/cordon/policy/releases/"}) {
    EXPECT_FALSE(release_of(key)) << key;
  }
}

// Nodes that take or refuse when they get to it, gateways that die between any two steps and go by
// what they last heard, and a store in which only whoever knows the last revision writes.
class Rolling {
 public:
  explicit Rolling(std::uint64_t seed, bool poison) : random_{seed}, poison_{poison} {
    for (std::uint16_t cell = 1; cell <= 3; ++cell) {
      for (std::uint32_t number = 1; number <= 4; ++number) {
        truth_[{cell, number}] = {.node = {cell, number}, .is_present = true};
      }
    }
    rollout_ = begin_rollout({}, heard_, {.canaries = {{1, 1}, {2, 1}}, .soak = seconds{3}});
  }

  void step() {
    now_ += seconds{1};
    for (auto& [id, node] : truth_) {
      if (chance(30)) act(node);
    }
    if (chance(50)) {
      heard_.clear();
      for (const auto& [id, node] : truth_) heard_.push_back(node);
    }
    // Two gateways read, and write one after the other: the later one finds another revision.
    for (int gateway = 0; gateway < 2; ++gateway) {
      if (chance(60)) read_ = {rollout_, revision_};
      const Step step = advance(read_.first, heard_, {1, 2, 3}, now_);
      const bool dies = chance(20);
      if (dies || step.next == read_.first || read_.second != revision_) continue;
      rollout_ = step.next;
      ++revision_;
    }
    for (const auto& [id, node] : truth_) {
      if (node.release == rollout_.release) had_it_.insert(id);
    }
  }

  const Rollout& rollout() const { return rollout_; }
  const std::set<NodeId>& had_it() const { return had_it_; }
  std::uint64_t release_of(NodeId id) const { return truth_.at(id).release; }
  std::vector<NodeId> ids() const {
    std::vector<NodeId> ids;
    for (const auto& [id, node] : truth_) ids.push_back(id);
    return ids;
  }

 private:
  bool chance(int percent) { return std::uniform_int_distribution{0, 99}(random_) < percent; }

  void act(NodeRelease& node) {
    const std::uint64_t meant = release_for(rollout_, node.node);
    if (poison_ && meant == rollout_.release && node.node == NodeId{2, 1}) {
      node.refused = meant;
      node.why = "no";
      return;
    }
    node.release = meant;
  }

  std::mt19937_64 random_;
  bool poison_;
  sys_seconds now_ = kPushedAt;
  std::map<NodeId, NodeRelease> truth_;
  std::vector<NodeRelease> heard_;
  Rollout rollout_;
  int revision_ = 1;
  std::pair<Rollout, int> read_{rollout_, 0};
  std::set<NodeId> had_it_;
};

TEST(Rollout, WhatACanaryRefusesReachesNobodyElse) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rolling world{seed, true};
    for (int i = 0; i < 200; ++i) world.step();
    EXPECT_EQ(world.rollout().stage, Stage::stopped) << seed;
    for (const NodeId node : world.had_it()) EXPECT_EQ(node, (NodeId{1, 1})) << seed;
    for (const NodeId node : world.ids()) EXPECT_EQ(world.release_of(node), 0U) << seed;
  }
}

// The counter-arm: what nobody refuses gets everywhere, whoever dies meanwhile.
TEST(Rollout, WhatNobodyRefusesReachesAll) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rolling world{seed, false};
    for (int i = 0; i < 400; ++i) world.step();
    EXPECT_EQ(world.rollout().stage, Stage::whole) << seed;
    EXPECT_EQ(world.had_it().size(), 12U) << seed;
  }
}

}  // namespace
}  // namespace cordon::fleet
