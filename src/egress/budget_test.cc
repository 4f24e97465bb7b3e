// SPDX-License-Identifier: Apache-2.0
#include "egress/budget.h"

#include <array>
#include <deque>
#include <random>

#include <gtest/gtest.h>

namespace cordon::egress {
namespace {

using namespace std::chrono_literals;

constexpr Ticks kStart = Ticks{} + 1000s;

TEST(TokenBucket, GivesItsBurstAndThenItsRate) {
  TokenBucket bucket{10, 5, kStart};
  EXPECT_TRUE(bucket.take(5, kStart));
  EXPECT_FALSE(bucket.take(1, kStart));
  EXPECT_EQ(bucket.wait_for(1, kStart), 100ms);
  EXPECT_FALSE(bucket.take(1, kStart + 99ms));
  EXPECT_TRUE(bucket.take(1, kStart + 101ms));
  EXPECT_FALSE(bucket.take(6, kStart + 1h));  // never more than its burst
  EXPECT_TRUE(bucket.take(5, kStart + 1h));
  EXPECT_FALSE(bucket.take(1, kStart));  // time does not run back
}

TEST(TokenBucket, NeverGivesMoreThanItPromised) {
  std::mt19937 dice{3};
  for (const double rate : {0.5, 7.0, 1e6, 1e11}) {
    constexpr std::uint64_t kBurst = 1000;
    TokenBucket bucket{rate, kBurst, kStart};
    double given = 0;
    Ticks now = kStart;
    for (int step = 0; step < 2000; ++step) {
      now += std::chrono::nanoseconds{dice() % 100'000'000};
      given += static_cast<double>(bucket.take_some(dice() % 2000, now));
      const double seconds = std::chrono::duration<double>{now - kStart}.count();
      ASSERT_LE(given, kBurst + seconds * rate + 1e-3) << rate;
    }
    const auto wait = bucket.wait_for(kBurst, now);
    EXPECT_TRUE(bucket.take(kBurst - 1, now + wait + 1ns)) << rate;  // and gives it in time
  }
}

TEST(MinuteWindow, TakesAllAtOnceAndThenNoneForAMinute) {
  MinuteWindow window{600};
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(window.take(kStart + 900ms));
  EXPECT_FALSE(window.take(kStart + 900ms));
  EXPECT_FALSE(window.take(kStart + 60s + 899ms));
  EXPECT_TRUE(window.take(kStart + 61s));
}

TEST(MinuteWindow, HoldsInAnyMinute) {
  std::mt19937 dice{5};
  constexpr std::uint64_t kMost = 50;
  MinuteWindow window{kMost};
  std::deque<Ticks> taken;
  Ticks now = kStart;
  std::uint64_t all = 0;
  for (int step = 0; step < 20'000; ++step) {
    now += std::chrono::milliseconds{dice() % 500};
    if (step % 1000 == 0) now += std::chrono::seconds{dice() % 200};
    if (!window.take(now)) continue;
    taken.push_back(now);
    ++all;
    while (taken.front() <= now - 60s) taken.pop_front();
    ASSERT_LE(taken.size(), kMost);
  }
  const double minutes = std::chrono::duration<double, std::ratio<60>>{now - kStart}.count();
  EXPECT_GT(static_cast<double>(all), 0.8 * kMost * minutes);  // and is not much stricter
}

TEST(EgressBudget, CountsConnectionsThatAreOpen) {
  EgressBudget budget{policy::Limits{.connections = 2}, kStart};
  EXPECT_FALSE(budget.open_connection());
  EXPECT_FALSE(budget.open_connection());
  EXPECT_EQ(budget.open_connection(),
            (BudgetRefusal{BudgetKind::connections, "more than 2 connections at once"}));
  EXPECT_EQ(budget.connections(), 2U);
  budget.close_connection();
  EXPECT_FALSE(budget.open_connection());
}

TEST(EgressBudget, HasABoundOnConnectionsWhereThePolicyHasNone) {
  EgressBudget budget{policy::Limits{}, kStart};
  for (std::uint64_t i = 0; i < EgressBudget::kConnections; ++i)
    ASSERT_FALSE(budget.open_connection());
  EXPECT_TRUE(budget.open_connection());
}

TEST(EgressBudget, CountsRequestsWhereThePolicyDoes) {
  EgressBudget bound{policy::Limits{.requests_per_minute = 3}, kStart};
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(bound.request(kStart));
  EXPECT_EQ(bound.request(kStart),
            (BudgetRefusal{BudgetKind::requests, "more than 3 requests in a minute"}));
  EXPECT_FALSE(bound.request(kStart + 61s));
  EgressBudget free{policy::Limits{}, kStart};
  for (int i = 0; i < 10'000; ++i) ASSERT_FALSE(free.request(kStart));
}

TEST(EgressBudget, CutsAThousandNamesThatCarryData) {
  EgressBudget budget{policy::Limits{}, kStart};
  int served = 0;
  for (int i = 0; i < 1000; ++i) served += budget.fresh_name(kStart + i * 10ms) ? 0 : 1;
  EXPECT_EQ(served, 256 + 9);
  EXPECT_TRUE(budget.fresh_name(kStart + 10s - 1ms));
  EXPECT_FALSE(budget.fresh_name(kStart + 20s));
}

TEST(EgressBudget, SpendsBytesThatAreSentOnceAndForAll) {
  EgressBudget budget{policy::Limits{.egress = 1000}, kStart};
  EXPECT_EQ(budget.move(Direction::out, 600, kStart).bytes, 600U);
  EXPECT_EQ(budget.move(Direction::out, 600, kStart).bytes, 400U);
  const auto spent = budget.move(Direction::out, 1, kStart + 1h);
  EXPECT_EQ(spent.bytes, 0U);
  EXPECT_EQ(spent.spent, (BudgetRefusal{BudgetKind::bytes, "more than 1000 bytes sent"}));
  EXPECT_EQ(budget.move(Direction::in, 600, kStart).bytes, 600U);  // what comes in is not counted
}

TEST(EgressBudget, HoldsTheBandwidthEachWay) {
  EgressBudget budget{policy::Limits{.bandwidth = 10'000}, kStart};
  EXPECT_EQ(budget.move(Direction::out, 50'000, kStart).bytes, 10'000U);
  const auto wait = budget.move(Direction::out, 50'000, kStart);
  EXPECT_EQ(wait.bytes, 0U);
  EXPECT_FALSE(wait.spent);
  EXPECT_EQ(wait.wait, 140ms);
  EXPECT_EQ(budget.move(Direction::in, 50'000, kStart).bytes, 10'000U);
  EXPECT_EQ(budget.move(Direction::out, 50'000, kStart + 500ms).bytes, 5'000U);
}

TEST(EgressBudget, TakesNothingOfTheTotalThatTheBandwidthHeldBack) {
  EgressBudget budget{policy::Limits{.egress = 15'000, .bandwidth = 10'000}, kStart};
  EXPECT_EQ(budget.move(Direction::out, 15'000, kStart).bytes, 10'000U);
  EXPECT_EQ(budget.move(Direction::out, 15'000, kStart).bytes, 0U);
  EXPECT_EQ(budget.move(Direction::out, 15'000, kStart + 10s).bytes, 5'000U);
  EXPECT_TRUE(budget.move(Direction::out, 1, kStart + 20s).spent);
}

TEST(EgressBudget, KeepsWhatWasUsedWhenItsLimitsChange) {
  policy::Limits limits;
  limits.egress = 1000;
  limits.connections = 2;
  const Ticks now{};
  EgressBudget budget{limits, now};
  EXPECT_EQ(budget.move(Direction::out, 600, now).bytes, 600U);
  EXPECT_EQ(budget.open_connection(), std::nullopt);
  limits.egress = 700;
  limits.connections = 1;
  budget.change(limits, now);
  EXPECT_EQ(budget.move(Direction::out, 600, now).bytes, 100U);
  EXPECT_TRUE(budget.move(Direction::out, 1, now).spent);
  EXPECT_TRUE(budget.open_connection());
  budget.close_connection();
  EXPECT_EQ(budget.open_connection(), std::nullopt);
}

TEST(EgressBudget, CountsWhatWasUsedBeforeThereWasALimit) {
  EgressBudget budget{{}, kStart};
  EXPECT_EQ(budget.move(Direction::out, 600, kStart).bytes, 600U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(budget.request(kStart), std::nullopt);
  policy::Limits limits;
  limits.egress = 700;
  limits.requests_per_minute = 6;
  budget.change(limits, kStart + 1s);
  EXPECT_EQ(budget.move(Direction::out, 600, kStart + 1s).bytes, 100U);
  EXPECT_EQ(budget.request(kStart + 1s), std::nullopt);
  EXPECT_TRUE(budget.request(kStart + 1s));
}

TEST(EgressBudget, GivesNothingAwayByBeingChangedAgainAndAgain) {
  policy::Limits limits;
  limits.bandwidth = 1000;
  limits.requests_per_minute = 10;
  EgressBudget budget{limits, kStart};
  std::uint64_t moved = 0;
  int requests = 0;
  for (int turn = 0; turn < 100; ++turn) {
    moved += budget.move(Direction::out, 1000, kStart).bytes;
    if (!budget.request(kStart)) ++requests;
    limits.bandwidth = turn % 2 == 0 ? 2000 : 1000;
    limits.requests_per_minute = turn % 2 == 0 ? 20 : 10;
    budget.change(limits, kStart);
  }
  EXPECT_EQ(moved, 1000U);
  EXPECT_EQ(requests, 20);
}

TEST(EgressBudget, SaysHowManyConnectionsAreTooMany) {
  policy::Limits limits;
  EgressBudget budget{limits, kStart};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(budget.open_connection(), std::nullopt);
  EXPECT_EQ(budget.over_connections(), 0U);
  limits.connections = 2;
  budget.change(limits, kStart);
  EXPECT_EQ(budget.over_connections(), 3U);
}

TEST(EgressBudget, GoesOnWhereItsPredecessorDied) {
  alignas(8) std::array<std::byte, EgressBudget::kKeptSize> kept{};
  policy::Limits limits;
  limits.egress = 1000;
  limits.requests_per_minute = 6;
  for (int life = 0; life < 3; ++life) {
    EgressBudget budget{limits, kStart + std::chrono::seconds{life}, kept};
    EXPECT_EQ(budget.move(Direction::out, 300, kStart).bytes, 300U);
    EXPECT_EQ(budget.request(kStart + std::chrono::seconds{life}), std::nullopt);
    EXPECT_EQ(budget.request(kStart + std::chrono::seconds{life}), std::nullopt);
    // It ends here, without a word.
  }
  EgressBudget last{limits, kStart + 3s, kept};
  EXPECT_EQ(last.move(Direction::out, 300, kStart).bytes, 100U);
  EXPECT_TRUE(last.move(Direction::out, 1, kStart).spent);
  EXPECT_TRUE(last.request(kStart + 3s));
  EXPECT_EQ(last.request(kStart + 63s), std::nullopt) << "a minute is a minute";
}

TEST(EgressBudget, IsNotFooledByATimeThatIsYetToCome) {
  alignas(8) std::array<std::byte, EgressBudget::kKeptSize> kept{};
  policy::Limits limits;
  limits.requests_per_minute = 1;
  {
    EXPECT_EQ((EgressBudget{limits, kStart + 1h, kept}.request(kStart + 1h)), std::nullopt);
  }
  EgressBudget next{limits, kStart, kept};
  EXPECT_TRUE(next.request(kStart));
  EXPECT_EQ(next.request(kStart + 62s), std::nullopt);
}

}  // namespace
}  // namespace cordon::egress
