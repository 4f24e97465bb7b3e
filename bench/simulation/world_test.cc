// SPDX-License-Identifier: Apache-2.0
// What must hold in a small fleet in trouble, and that each check could fail.
#include "simulation/world.h"

#include <gtest/gtest.h>

namespace cordon::simulation {
namespace {

using std::chrono::seconds;
using Kind = Trouble::Kind;

Tally run(const Scenario& scenario) { return World{scenario}.run(); }

Scenario small(int length, std::vector<Trouble> troubles) {
  Scenario scenario = small_scenario();
  scenario.length = seconds{length};
  scenario.troubles = std::move(troubles);
  return scenario;
}

TEST(Simulation, TheSameSeedIsTheSameRun) {
  Scenario scenario = small(4, {});
  const Tally one = run(scenario);
  const Tally again = run(scenario);
  EXPECT_GT(one.counts.made, 300U);
  EXPECT_EQ(one.counts.made, again.counts.made);
  EXPECT_EQ(one.counts.full, again.counts.full);
  scenario.seed = 2;
  EXPECT_NE(one.counts.made, run(scenario).counts.made);
}

TEST(Simulation, AFullFleetTurnsAlmostNoneAwayAndOneThatTakesTheEmptiestOfAllDoes) {
  Scenario scenario = small(15, {});
  const Tally tally = run(scenario);
  EXPECT_GT(average_use(tally), 0.91);
  EXPECT_LT(full_per_million(tally), 1000);
  EXPECT_EQ(tally.counts.failed, 0U);
  scenario.arm = {.choice = Arm::Choice::least_loaded};
  EXPECT_GT(full_per_million(run(scenario)), 10'000) << "they all run to the same one";
}

TEST(Simulation, GaugesOfAnswersAreEnoughWhileWatchesStall) {
  Scenario scenario = small(30, {});
  scenario.use = 0.95;
  for (std::uint16_t cell = 0; cell < 2; ++cell) {
    scenario.troubles.push_back(
        {.kind = Kind::watches_stall, .from = seconds{3}, .until = seconds{30}, .cell = cell});
  }
  const Tally tally = run(scenario);
  EXPECT_LT(full_per_million(tally), 1000);
  EXPECT_EQ(tally.counts.failed, 0U);
  scenario.arm.piggybacks = false;
  EXPECT_GT(run(scenario).counts.failed, 500U) << "what was sent counts, and nothing that ended";
}

// Small nodes and short lives: every belief is soon wrong.
TEST(Simulation, WhoIsBelievedFullIsAskedAgainBeforeNobodyIsLeft) {
  Scenario scenario = small(30, {});
  scenario.size.slots = 100;
  scenario.size.gateways = 6;
  scenario.use = 0.95;
  scenario.creates_per_second = 500;
  EXPECT_EQ(run(scenario).counts.failed, 0U);
  scenario.arm.asks_the_full = false;
  EXPECT_GT(run(scenario).counts.failed, 0U) << "with room on nodes that nobody asks";
}

TEST(Simulation, NobodyHasMoreThanTheQuotaWithACellCutOffAndMessagesLost) {
  Scenario scenario =
      small(72, {{.kind = Kind::cut_from_quotas, .from = seconds{3}, .until = seconds{68}}});
  EXPECT_EQ(run(scenario).overshoot, 0);
  scenario.arm.quota = Arm::Quota::last_sum;
  scenario.length = seconds{20};
  EXPECT_GT(run(scenario).overshoot, 0);
}

TEST(Simulation, ACellWhoseLeasesAreAllGoneLosesNobodyAndTakesNewOnes) {
  const Trouble lost{.kind = Kind::leases_lost, .from = seconds{3}, .until = seconds{40}};
  Scenario scenario = small(46, {lost});
  const Tally tally = run(scenario);
  EXPECT_EQ(tally.declared_dead, 0U);
  EXPECT_GT(made_during(tally, lost), 80);
  scenario.arm.rules.window = seconds{-1};  // never are there many at once
  EXPECT_EQ(made_during(run(scenario), lost), 0);
}

TEST(Simulation, AnEtcdThatIsAwayChangesNothing) {
  const Trouble away{.kind = Kind::etcd_away, .from = seconds{3}, .until = seconds{30}};
  const Tally tally = run(small(45, {away}));
  EXPECT_EQ(tally.declared_dead, 0U);
  EXPECT_EQ(tally.counts.failed, 0U);
  EXPECT_GT(made_during(tally, away), 80);
}

TEST(Simulation, NodesThatDieAreKnownToAllAndNothingIsSentThere) {
  Scenario scenario = small(60, {});
  for (std::uint16_t cell = 0; cell < 2; ++cell) {
    scenario.troubles.push_back({.kind = Kind::nodes_die,
                                 .from = seconds{5},
                                 .until = seconds{60},
                                 .cell = cell,
                                 .nodes = std::uint32_t{cell} * 2 + 1});
  }
  scenario.use = 0.8;
  const Tally tally = run(scenario);
  EXPECT_EQ(tally.declared_dead, std::uint64_t{4} * scenario.size.gateways);
  EXPECT_EQ(tally.declared_alive, 0U);
  EXPECT_EQ(tally.placed_on_dead, 0U);
  EXPECT_LT(tally.longest_unknown, seconds{50});
  EXPECT_EQ(tally.counts.failed, 0U);
  EXPECT_EQ(tally.overshoot, 0);
}

// Nothing but their answers speaks for the cell's nodes, and one gateway does not hear them.
std::uint64_t declared_by_who_is_cut_off_from(std::uint32_t nodes) {
  return run(small(58, {{.kind = Kind::leases_lost, .from = seconds{3}, .until = seconds{57}},
                        {.kind = Kind::cut_from_gateway,
                         .from = seconds{3},
                         .until = seconds{45},
                         .nodes = nodes}}))
      .declared_alive;
}

TEST(Simulation, WhoIsCutOffFromMostOfACellDeclaresNobodyDeadThenNorAfterwards) {
  EXPECT_EQ(declared_by_who_is_cut_off_from(20), 0U) << "of 30";
  EXPECT_EQ(declared_by_who_is_cut_off_from(10), 10U) << "whom it believes dead, for it alone";
}

}  // namespace
}  // namespace cordon::simulation
