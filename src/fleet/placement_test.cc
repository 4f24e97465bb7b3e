// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement.h"

#include <deque>
#include <map>
#include <queue>
#include <random>

#include <gtest/gtest.h>

#include "fleet/nodes_test.h"

namespace cordon::fleet {
namespace {

Placement::Random seeded(std::uint32_t seed) {
  return [random = std::minstd_rand{seed}](std::size_t end) mutable {
    return std::uniform_int_distribution<std::size_t>{0, end - 1}(random);
  };
}

Gauge gauge(std::uint64_t seq, std::uint32_t free, WarmSet warm = {}) {
  return {.at = {.epoch = 1, .seq = seq}, .slots = 100, .free = free, .warm = warm};
}

TEST(Placement, ANodeThatIsFullOrNotAllowedIsNotChosen) {
  Placement placement{seeded(1)};
  EXPECT_FALSE(placement.choose("a"));
  placement.gauge(in_cell_1(1), gauge(1, 0));
  placement.allow(in_cell_1(1), true);
  placement.gauge(in_cell_1(2), gauge(1, 50));
  EXPECT_FALSE(placement.choose("a"));
  placement.allow(in_cell_1(2), true);
  EXPECT_EQ(placement.choose("a"), in_cell_1(2));
  const NodeId tried = in_cell_1(2);
  EXPECT_FALSE(placement.choose("a", {&tried, 1}));
  placement.allow(in_cell_1(2), false);
  EXPECT_FALSE(placement.choose("a"));
}

TEST(Placement, OfTwoItTakesTheOneWithMoreRoom) {
  Placement placement{seeded(1)};
  for (const std::uint32_t number : {1U, 2U}) placement.allow(in_cell_1(number), true);
  placement.gauge(in_cell_1(1), gauge(1, 40));
  placement.gauge(in_cell_1(2), {.at = {1, 1}, .slots = 1000, .free = 390});
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(placement.choose("a"), in_cell_1(1)) << "by parts, not numbers";
}

TEST(Placement, ANodeWithTheImageComesFirstHoweverFullItIs) {
  Placement placement{seeded(1)};
  WarmSet warm;
  warm.add("debian-12");
  for (std::uint32_t number = 0; number < 50; ++number) {
    placement.allow(in_cell_1(number), true);
    placement.gauge(in_cell_1(number),
                    gauge(1, number == 7 ? 1 : 90, number == 7 ? warm : WarmSet{}));
  }
  EXPECT_EQ(placement.choose("debian-12"), in_cell_1(7));
  placement.began(in_cell_1(7));
  const auto other = placement.choose("debian-12");
  EXPECT_TRUE(other) << "cold is better than nothing";
  EXPECT_NE(other, in_cell_1(7));
}

TEST(Placement, AGaugeThatIsLateChangesNothing) {
  Placement placement{seeded(1)};
  EXPECT_TRUE(placement.gauge(in_cell_1(1), gauge(5, 40)));
  EXPECT_FALSE(placement.gauge(in_cell_1(1), gauge(4, 90)));
  EXPECT_FALSE(placement.gauge(in_cell_1(1), gauge(5, 90)));
  EXPECT_EQ(placement.free_of(in_cell_1(1)), 40U);
  EXPECT_TRUE(placement.gauge(in_cell_1(1), {.at = {2, 0}, .slots = 100, .free = 100}))
      << "another start";
  EXPECT_FALSE(placement.gauge(in_cell_1(1), gauge(6, 10)));
}

TEST(Placement, WhatWasSentCountsUntilAGaugeSaysWhatBecameOfIt) {
  Placement placement{seeded(1)};
  placement.gauge(in_cell_1(1), gauge(1, 10));
  placement.began(in_cell_1(1));
  placement.began(in_cell_1(1));
  EXPECT_EQ(placement.free_of(in_cell_1(1)), 8U);
  placement.ended(in_cell_1(1));
  EXPECT_EQ(placement.free_of(in_cell_1(1)), 8U);
  placement.gauge(in_cell_1(1), gauge(2, 9));
  EXPECT_EQ(placement.free_of(in_cell_1(1)), 8U) << "one is still on the way";
  placement.ended(in_cell_1(1));
  placement.gauge(in_cell_1(1), gauge(3, 8));
  EXPECT_EQ(placement.free_of(in_cell_1(1)), 8U);
}

TEST(Placement, WhatChangedNothingThereCountsNoMoreWhenTheNodeSaysTheSameAgain) {
  Placement placement{seeded(1)};
  placement.gauge(in_cell_1(1), gauge(5, 10));
  placement.began(in_cell_1(1));
  placement.began(in_cell_1(1));
  placement.ended(in_cell_1(1));  // refused
  EXPECT_FALSE(placement.gauge(in_cell_1(1), gauge(4, 10)));
  EXPECT_EQ(placement.free_of(in_cell_1(1)), 8U) << "said before";
  EXPECT_FALSE(placement.gauge(in_cell_1(1), gauge(5, 10)));
  EXPECT_EQ(placement.free_of(in_cell_1(1)), 9U) << "the other one is on the way";
}

TEST(Placement, ANodeThatIsForgottenIsNotChosen) {
  Placement placement{seeded(3)};
  for (std::uint32_t number = 0; number < 10; ++number) {
    placement.allow(in_cell_1(number), true);
    placement.gauge(in_cell_1(number), gauge(1, 50));
  }
  for (std::uint32_t number = 0; number < 9; ++number) placement.forget(in_cell_1(number));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(placement.choose("a"), in_cell_1(9));
  placement.forget(in_cell_1(9));
  placement.forget(in_cell_1(9));
  EXPECT_FALSE(placement.choose("a"));
}

// Gateways that do not see each other fill nodes to 97 parts of 100. Each answer of a node carries
// its gauge; all gauges come by themselves every ten seconds.
struct Fleet {
  static constexpr std::uint32_t kNodes = 60;
  static constexpr std::uint32_t kSlots = 100;
  static constexpr std::size_t kGateways = 8;

  explicit Fleet(bool piggybacks) : with_answers{piggybacks} {
    for (std::size_t i = 0; i < kGateways; ++i) {
      gateways.emplace_back(seeded(static_cast<std::uint32_t>(i + 1)));
    }
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      for (Placement& gateway : gateways) gateway.allow(in_cell_1(i), true);
    }
    tell_all();
  }
  Gauge now_of(std::uint32_t i) {
    return {.at = {1, ++seq}, .slots = kSlots, .free = kSlots - used[i]};
  }
  void tell_all() {
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      const Gauge now = now_of(i);
      for (Placement& gateway : gateways) gateway.gauge(in_cell_1(i), now);
    }
  }
  void create(double now) {
    Placement& gateway = gateways[random() % kGateways];
    std::vector<NodeId> tried;
    for (int attempt = 0; attempt < 4; ++attempt) {
      const auto chosen = gateway.choose("a", tried);
      if (!chosen) break;
      const std::uint32_t i = chosen->node;
      gateway.began(*chosen);
      const bool takes = used[i] < kSlots;
      if (takes) {
        ++used[i];
        ends.emplace(now + std::exponential_distribution<>{0.01}(random), i);
      }
      gateway.ended(*chosen);
      if (with_answers) gateway.gauge(*chosen, now_of(i));
      if (takes) return;
      ++retries;
      tried.push_back(*chosen);
    }
    ++failures;
  }
  void run(double per_second, double until) {
    double tell = 10;
    for (double now = 0; now < until; now += std::exponential_distribution<>{per_second}(random)) {
      for (; !ends.empty() && ends.top().first <= now; ends.pop()) --used[ends.top().second];
      if (now >= tell) {
        tell_all();
        tell += 10;
      }
      ++creates;
      create(now);
    }
  }

  using End = std::pair<double, std::uint32_t>;
  bool with_answers;
  std::minstd_rand random{42};
  std::vector<Placement> gateways;
  std::array<std::uint32_t, kNodes> used{};
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::uint64_t seq = 0;
  std::uint64_t creates = 0;
  std::uint64_t retries = 0;
  std::uint64_t failures = 0;
};

TEST(Placement, AlmostNoneIsTurnedAwayInAFullFleet) {
  Fleet fleet{true};
  // A sandbox lives for 100 s: 93 of 100 slots in use, here where a node has 100 and not 1,000.
  fleet.run(60 * 0.93, 600);
  EXPECT_GT(fleet.creates, 30'000U);
  EXPECT_EQ(fleet.failures, 0U);
  EXPECT_LT(static_cast<double>(fleet.retries) / static_cast<double>(fleet.creates), 0.001);
}

TEST(Placement, WithoutGaugesInAnswersMoreAreTurnedAway) {
  Fleet with{true};
  Fleet without{false};
  with.run(60 * 0.97, 400);
  without.run(60 * 0.97, 400);
  EXPECT_LT(with.retries * 2, without.retries) << with.retries;
}

}  // namespace
}  // namespace cordon::fleet
