// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "fleet/cell_quota.h"
#include "fleet/quota_ledger.h"

// NOLINTBEGIN(bugprone-unchecked-optional-access): asserted
namespace cordon::fleet {
namespace {

using std::chrono::seconds;

constexpr Ticks kStart{seconds{1000}};

QuotaLedger fresh(std::uint64_t total) { return {.total = total, .homes = {1, 2, 3}}; }

std::uint64_t held_by_all(const QuotaLedger& ledger) {
  std::uint64_t sum = 0;
  for (Cell cell = 0; cell < 16; ++cell) sum += ledger.held_by(cell);
  return sum;
}

TEST(QuotaLedger, SharesNeedNoWriteAndHalfIsThePool) {
  const QuotaLedger ledger = fresh(100);
  EXPECT_EQ(ledger.held_by(1), 16U);
  EXPECT_EQ(ledger.held_by(7), 0U);
  EXPECT_EQ(ledger.pool(), 52);
}

TEST(QuotaLedger, HalfOfThePoolIsTakenAndNotLessThanAChunk) {
  QuotaLedger ledger = fresh(100);
  EXPECT_EQ(ledger.take(7), 26U);
  EXPECT_EQ(ledger.take(8), 13U);
  EXPECT_EQ(ledger.take(9), ledger.least_chunk());
  EXPECT_EQ(ledger.take(9), ledger.least_chunk());
  EXPECT_EQ(ledger.take(9), 1U) << "what is left";
  EXPECT_EQ(ledger.take(9), 0U);
  EXPECT_EQ(ledger.held_by(7), 26U);
}

TEST(QuotaLedger, ChunksOfASmallQuotaAreSmall) {
  EXPECT_EQ(fresh(100'000).least_chunk(), 16U);
  EXPECT_EQ(fresh(100).least_chunk(), 6U);
  EXPECT_EQ(fresh(3).least_chunk(), 2U);
}

TEST(QuotaLedger, WhatAHomeGaveItTakesBackFirst) {
  QuotaLedger ledger = fresh(100);
  ledger.release(1, 10);
  EXPECT_EQ(ledger.held_by(1), 6U);
  EXPECT_EQ(ledger.pool(), 62);
  EXPECT_EQ(ledger.take(1), 31U);
  EXPECT_EQ(ledger.given.count(1), 0U);
  EXPECT_EQ(ledger.lent.at(1), 21U);
  ledger.release(1, 1000);
  EXPECT_EQ(ledger.held_by(1), 0U);
  EXPECT_EQ(ledger.pool(), 68) << "not more than it held";
}

TEST(QuotaLedger, WhoWantsSaysSoOnce) {
  QuotaLedger ledger = fresh(100);
  EXPECT_TRUE(ledger.want(7));
  EXPECT_FALSE(ledger.want(7));
  ledger.release(1, 1);
  EXPECT_TRUE(ledger.wanting.empty());
}

TEST(QuotaLedger, WhoFindsLittleStillWants) {
  QuotaLedger ledger = fresh(100);
  while (ledger.take(7) > 0) continue;
  ledger.want(8);
  ledger.want(9);
  ledger.release(7, 2 * ledger.least_chunk() - 1);
  EXPECT_EQ(ledger.wanting.size(), 2U);
  EXPECT_TRUE(ledger.is_wanted_by_others(8));
  ledger.take(9);
  EXPECT_FALSE(ledger.is_wanted_by_others(8));
  EXPECT_TRUE(ledger.is_wanted_by_others(1));
  ledger.release(7, 12);
  EXPECT_TRUE(ledger.wanting.empty());
}

TEST(QuotaLedger, AfterALowerTotalNobodyTakesUntilItIsReleased) {
  QuotaLedger ledger = fresh(300);
  while (ledger.take(7) > 0) continue;
  ledger.resize(100, {1, 2, 3});
  EXPECT_LT(ledger.pool(), 0);
  EXPECT_EQ(ledger.take(8), 0U);
  ledger.release(7, 1000);
  EXPECT_EQ(ledger.pool(), 52);
}

TEST(QuotaLedger, IsTheSameAfterItWasWrittenDown) {
  QuotaLedger ledger = fresh(1000);
  ledger.take(7);
  ledger.release(2, 20);
  ledger.want(9);
  const auto read = decode_quota(encode(ledger));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, ledger);
}

TEST(QuotaLedger, RefusesWhatNobodyCouldHaveWritten) {
  for (const std::string_view text : {
           R"({})",
           R"({"format":2,"total":1,"homes":[],"given":{},"lent":{},"wanting":[]})",
           R"({"format":1,"total":-1,"homes":[],"given":{},"lent":{},"wanting":[]})",
           R"({"format":1,"total":1,"total":9,"homes":[],"given":{},"lent":{},"wanting":[]})",
           R"({"format":1,"total":9,"homes":["01"],"given":{},"lent":{},"wanting":[]})",
           R"({"format":1,"total":9,"homes":["1"],"given":{"1":9},"lent":{},"wanting":[]})",
           R"({"format":1,"total":9,"homes":["1"],"given":{"2":1},"lent":{},"wanting":[]})",
           R"({"format":1,"total":9,"homes":["1"],"given":{},"lent":{"2":0},"wanting":[]})",
       }) {
    EXPECT_FALSE(decode_quota(text)) << text;
  }
}

TEST(CellQuota, AdmitsNothingBeforeItHeardOfTheLedger) {
  CellQuota cell{1};
  EXPECT_FALSE(cell.admit(kStart));
  cell.heard(fresh(100), 1, kStart);
  EXPECT_TRUE(cell.admit(kStart));
}

TEST(CellQuota, ALoanThatWasNotHeardOfForAMinuteTakesNothingNew) {
  QuotaLedger ledger = fresh(600);
  ledger.take(1);
  CellQuota cell{1};
  cell.heard(ledger, 5, kStart);
  EXPECT_EQ(cell.allowed(kStart + seconds{60}), 100U + 150U);
  EXPECT_EQ(cell.allowed(kStart + seconds{61}), 100U) << "its own share needs nobody";
  cell.heard(ledger, 5, kStart + seconds{61});
  EXPECT_EQ(cell.allowed(kStart + seconds{61}), 250U);
}

TEST(CellQuota, WhatItMayHaveReleasedIsGone) {
  QuotaLedger ledger = fresh(600);
  while (ledger.take(9) > 0) continue;
  ledger.want(8);
  CellQuota cell{1};
  cell.heard(ledger, 5, kStart);
  const auto change = cell.next_change(kStart);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->ledger.held_by(1), 50U);
  EXPECT_EQ(cell.allowed(kStart), 50U) << "nobody said yet that it was done";
  cell.heard(ledger, 5, kStart);
  EXPECT_EQ(cell.allowed(kStart), 50U) << "it still may be done";
  const auto again = cell.next_change(kStart);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->ledger, change->ledger);
  ledger.wanting.clear();
  cell.heard(ledger, 6, kStart);
  EXPECT_EQ(cell.allowed(kStart), 100U) << "on top of 5 it cannot be done any more";
}

TEST(CellQuota, ACellThatNobodyAsksTakesNothing) {
  CellQuota cell{7};
  cell.heard(fresh(600), 5, kStart);
  EXPECT_FALSE(cell.next_change(kStart));
  EXPECT_FALSE(cell.admit(kStart)) << "it has no share";
  const auto change = cell.next_change(kStart);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->ledger.held_by(7), 150U);
}

TEST(CellQuota, ALoanThatItsShareWouldDoForGoesBack) {
  QuotaLedger ledger = fresh(600);
  ledger.take(1);
  CellQuota cell{1};
  cell.heard(ledger, 5, kStart);
  const auto change = cell.next_change(kStart);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->ledger.lent.count(1), 0U);
  EXPECT_EQ(change->ledger.held_by(1), 100U);
}

TEST(CellQuota, AfterALowerTotalLoansGoBackAndNothingBeginsMeanwhile) {
  QuotaLedger ledger = fresh(600);
  while (ledger.take(7) > 0) continue;
  CellQuota cell{7};
  CellQuota home{1};
  cell.heard(ledger, 5, kStart);
  cell.recount(250);
  ledger.resize(60, {1, 2, 3});
  cell.heard(ledger, 6, kStart);
  home.heard(ledger, 6, kStart);
  EXPECT_FALSE(cell.admit(kStart));
  EXPECT_FALSE(home.admit(kStart)) << "270 are lent and 250 run, of 60";
  auto change = cell.next_change(kStart);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->ledger.held_by(7), 250U) << "what nobody uses";
  cell.heard(change->ledger, 7, kStart);
  cell.recount(20);
  change = cell.next_change(kStart);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->ledger.held_by(7), 30U) << "all that is too much";
  EXPECT_EQ(cell.allowed(kStart), 30U);
  home.heard(change->ledger, 8, kStart);
  EXPECT_TRUE(home.admit(kStart));
}

// Eight cells whose tenants are idle for a while and then ask for more than there is; cells are cut
// off, most of all in the middle of a change, and come back; answers are lost, changes arrive late.
struct World {
  explicit World(std::uint32_t seed, std::uint64_t total) : random{seed} {
    ledger = {.total = total, .homes = {0, 1, 2}};
    for (Cell cell = 0; cell < 8; ++cell) cells.emplace_back(cell);
  }
  bool chance(double part) { return std::uniform_real_distribution<>{0, 1}(random) < part; }
  bool write(const CellQuota::Change& change) {
    if (change.base != revision) return false;
    ledger = change.ledger;
    ++revision;
    ++changes;
    return true;
  }
  void talk(Cell id, Ticks now) {
    CellQuota& cell = cells[id];
    cell.heard(ledger, revision, now);
    const auto change = cell.next_change(now);
    if (!change) return;
    if (fair) {
      write(*change);
      cell.heard(ledger, revision, now);
      return;
    }
    const double fate = std::uniform_real_distribution<>{0, 1}(random);
    if (fate < 0.4) cut[id] = chance(0.5);  // whatever happens to the change
    if (fate < 0.1) return;                 // lost on the way
    if (fate < 0.2) {                       // arrives later, perhaps
      late.push_back(*change);
      return;
    }
    write(*change);
    if (fate < 0.4) return;  // done, and its answer is lost
    cell.heard(ledger, revision, now);
  }
  void step(Ticks now) {
    for (Cell id = 0; id < 8; ++id) {
      CellQuota& cell = cells[id];
      if (chance(cut[id] ? 0.02 : 0.01)) cut[id] = !cut[id];
      for (std::uint64_t left = cell.used(); left > 0; --left) {
        if (chance(0.05)) cell.ended();
      }
      if (chance(0.04)) is_greedy[id] = !is_greedy[id];
      const int asked = is_greedy[id] ? 40 : 1;
      for (int i = 0; i < asked; ++i) created += cell.admit(now) ? 1 : 0;
      if (!cut[id] && chance(0.7)) talk(id, now);
    }
    if (!late.empty() && chance(0.2)) {
      write(late.back());
      late.pop_back();
    }
  }
  std::uint64_t used() const {
    std::uint64_t sum = 0;
    for (const CellQuota& cell : cells) sum += cell.used();
    return sum;
  }

  std::minstd_rand random;
  QuotaLedger ledger;
  std::int64_t revision = 1;
  std::vector<CellQuota> cells;
  bool fair = false;  // nothing is lost
  std::array<bool, 8> cut{};
  std::array<bool, 8> is_greedy{};
  std::vector<CellQuota::Change> late;
  std::uint64_t created = 0;
  std::uint64_t changes = 0;
};

TEST(CellQuota, CellsNeverHaveMoreThanTheQuotaBetweenThem) {
  std::uint64_t created = 0;
  std::uint64_t changes = 0;
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    World world{seed, 600};
    Ticks now = kStart;
    std::uint64_t most = 0;
    for (int second = 0; second < 600; ++second, now += seconds{1}) {
      world.step(now);
      ASSERT_LE(world.used(), 600U) << "seed " << seed << ", second " << second;
      ASSERT_GE(world.ledger.pool(), 0);
      ASSERT_EQ(held_by_all(world.ledger) + static_cast<std::uint64_t>(world.ledger.pool()), 600U);
      most = std::max(most, world.used());
    }
    EXPECT_GT(most, 500U) << "seed " << seed << ": a quota that nobody can use";
    created += world.created;
    changes += world.changes;
  }
  EXPECT_LT(static_cast<double>(changes) / static_cast<double>(created), 0.05);
  RecordProperty("created", std::to_string(created));
  RecordProperty("changes", std::to_string(changes));
}

TEST(CellQuota, AHotCellGetsWhatOthersDoNotUse) {
  World world{7, 600};
  world.fair = true;
  Ticks now = kStart;
  for (int second = 0; second < 60; ++second, now += seconds{1}) {
    for (int i = 0; i < 100; ++i) world.cells[3].admit(now);
    for (Cell id = 0; id < 8; ++id) world.talk(id, now);
  }
  EXPECT_GE(world.cells[3].used(), 540U);
  EXPECT_LE(world.cells[3].used(), 600U);
}

// Each cell was asked a little, and then one alone is.
std::uint64_t reached_by_one(std::uint64_t total, int seconds_long) {
  World world{7, total};
  world.fair = true;
  Ticks now = kStart;
  for (int second = 0; second < 5 + seconds_long; ++second, now += seconds{1}) {
    for (Cell id = 0; id < 8; ++id) {
      const std::uint64_t asked = second < 5 ? 1 : id == 5 ? total : 0;
      for (std::uint64_t i = 0; i < asked; ++i) world.cells[id].admit(now);
      if (id != 5 && second == 5) world.cells[id].recount(0);
      if (second % 2 == id % 2) world.talk(id, now);
    }
  }
  return world.cells[5].used();
}

TEST(CellQuota, OfASmallQuotaACellGetsWhatOthersLeaveIdle) {
  EXPECT_EQ(reached_by_one(24, 60), 24U);
  EXPECT_EQ(reached_by_one(3, 60), 3U);
  EXPECT_EQ(reached_by_one(600, 120), 600U);
  EXPECT_LT(reached_by_one(24, 5), 24U) << "not before they have left it idle for a while";
}

// Always a fifth more is wanted than there is, each in a cell that has no say in it. Pairs: writes,
// and how many ran on average.
std::pair<std::uint64_t, double> at_the_limit(std::uint64_t total) {
  World world{5, total};
  world.fair = true;
  Ticks now = kStart;
  constexpr double kEnds = 0.05;
  std::poisson_distribution<int> comes{1.2 * kEnds * static_cast<double>(total)};
  std::uint64_t sum = 0;
  for (int second = 0; second < 600; ++second, now += seconds{1}) {
    for (CellQuota& cell : world.cells) {
      for (std::uint64_t left = cell.used(); left > 0; --left) {
        if (world.chance(kEnds)) cell.ended();
      }
    }
    for (int left = comes(world.random); left > 0; --left) {
      world.cells[world.random() % 8].admit(now);
    }
    for (Cell id = 0; id < 8; ++id) {
      if ((second + id) % 2 == 0) world.talk(id, now);
    }
    sum += world.used();
  }
  return {world.changes, static_cast<double>(sum) / 600};
}

TEST(CellQuota, ATenantAtItsLimitIsNoWriteInEachRound) {
  for (const std::uint64_t total : {24U, 100U, 600U}) {
    const auto [writes, ran] = at_the_limit(total);
    EXPECT_LT(writes, 500U) << "of 2,400 rounds, with a quota of " << total;
    EXPECT_GT(ran, 0.65 * static_cast<double>(total)) << total;
  }
}

TEST(CellQuota, AfterALowerTotalNothingBeginsBeforeFewerRun) {
  World world{11, 600};
  world.fair = true;
  Ticks now = kStart;
  for (int second = 0; second < 120; ++second, now += seconds{1}) {
    for (Cell id = 0; id < 8; ++id) world.talk(id, now);
    for (int i = 0; i < 100; ++i) world.cells[5].admit(now);
    if (second == 60) {
      EXPECT_GT(world.used(), 500U);
      world.ledger.resize(60, {0, 1, 2});
      ++world.revision;
      continue;
    }
    if (second < 60) continue;
    const std::uint64_t before = world.used();
    for (CellQuota& cell : world.cells) cell.admit(now);
    EXPECT_LE(world.used(), std::max<std::uint64_t>(before, 60)) << second;
    for (int i = 0; i < 20 && world.cells[5].used() > 0; ++i) world.cells[5].ended();
  }
  EXPECT_GE(world.ledger.pool(), 0);
}

TEST(CellQuota, AHigherTotalIsNeverMoreThanItself) {
  World world{9, 300};
  Ticks now = kStart;
  std::uint64_t most = 0;
  for (int second = 0; second < 600; ++second, now += seconds{1}) {
    if (second == 300) {
      world.ledger.resize(900, {0, 1, 2, 3});
      ++world.revision;
    }
    world.step(now);
    ASSERT_LE(world.used(), second < 300 ? 300U : 900U);
    most = std::max(most, world.used());
  }
  EXPECT_GT(most, 450U);
}

}  // namespace
}  // namespace cordon::fleet
// NOLINTEND(bugprone-unchecked-optional-access)
