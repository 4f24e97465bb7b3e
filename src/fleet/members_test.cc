// SPDX-License-Identifier: Apache-2.0
#include "fleet/members.h"

#include <gtest/gtest.h>

#include "fleet/nodes_test.h"

namespace cordon::fleet {
namespace {

using std::chrono::seconds;
using News = Members::News;

Summary said(std::uint64_t seq, std::uint32_t epoch = 1) {
  return {.address = "192.0.2.1:7070", .gauge = {.at = {epoch, seq}, .slots = 10, .free = 5}};
}

struct Observed {
  explicit Observed(std::uint32_t size) {
    for (std::uint32_t i = 0; i < size; ++i) members.seen(in_cell_1(i), said(1), now);
  }
  std::optional<Standing> of(std::uint32_t number) const {
    return members.standing(in_cell_1(number), now);
  }
  void pass(int time) { now += seconds{time}; }
  // Probes of all that answer, and of those that do not, once a second.
  void probe(int time, std::uint32_t silent_until, std::uint32_t size) {
    for (int second = 0; second < time; ++second) {
      for (std::uint32_t i = 0; i < size; ++i) {
        if (i < silent_until) {
          members.unanswered(in_cell_1(i), now);
        } else {
          members.answered(in_cell_1(i), now);
        }
      }
      pass(1);
    }
  }

  Ticks now{seconds{1000}};
  Members members{Members::Rules{}};
};

TEST(Members, ALeaseThatIsGoneMeansNothingNewAndNeverDead) {
  Observed cell{20};
  EXPECT_EQ(cell.of(0), Standing::placeable);
  cell.members.lease_gone(in_cell_1(0), cell.now);
  EXPECT_EQ(cell.of(0), Standing::kept);
  cell.probe(600, 0, 20);
  EXPECT_TRUE(cell.members.declare_dead(cell.now).empty());
  EXPECT_EQ(cell.of(0), Standing::kept) << "it answers";
}

TEST(Members, DeadIsWhoHasNoLeaseAndDoesNotAnswerForAGraceTime) {
  Observed cell{20};
  cell.members.lease_gone(in_cell_1(0), cell.now);
  cell.probe(29, 1, 20);
  EXPECT_TRUE(cell.members.declare_dead(cell.now).empty());
  cell.probe(2, 1, 20);
  EXPECT_EQ(cell.members.declare_dead(cell.now), std::vector{in_cell_1(0)});
  EXPECT_EQ(cell.of(0), Standing::dead);
  EXPECT_TRUE(cell.members.declare_dead(cell.now).empty()) << "told once";
}

TEST(Members, WithItsLeaseANodeIsNotDeadHoweverSilent) {
  Observed cell{20};
  cell.probe(600, 1, 20);
  EXPECT_TRUE(cell.members.declare_dead(cell.now).empty());
  EXPECT_EQ(cell.of(0), Standing::kept) << "and takes nothing new while it is silent";
  cell.members.answered(in_cell_1(0), cell.now);
  EXPECT_EQ(cell.of(0), Standing::placeable);
}

TEST(Members, FewFailuresAreNotAGraceTime) {
  Observed cell{20};
  cell.members.lease_gone(in_cell_1(0), cell.now);
  cell.members.unanswered(in_cell_1(0), cell.now);
  cell.pass(600);
  cell.members.unanswered(in_cell_1(0), cell.now);
  EXPECT_TRUE(cell.members.declare_dead(cell.now).empty());
  cell.members.unanswered(in_cell_1(0), cell.now);
  EXPECT_EQ(cell.members.declare_dead(cell.now).size(), 1U);
}

TEST(Members, WhereManyLeasesGoAtOnceNodesThatAnswerStayPlaceable) {
  Observed cell{100};
  cell.probe(1, 0, 100);
  for (std::uint32_t i = 0; i < 100; ++i) cell.members.lease_gone(in_cell_1(i), cell.now);
  EXPECT_TRUE(cell.members.is_frozen(1));
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(cell.of(i), Standing::placeable);
  cell.pass(11);
  EXPECT_EQ(cell.of(0), Standing::kept) << "an answer stands for ten seconds";
  cell.probe(1, 2, 100);
  EXPECT_EQ(cell.of(0), Standing::kept) << "it does not answer";
  EXPECT_EQ(cell.of(2), Standing::placeable);
  // They come back.
  for (std::uint32_t i = 0; i < 97; ++i) cell.members.seen(in_cell_1(i), said(2), cell.now);
  EXPECT_FALSE(cell.members.is_frozen(1));
  EXPECT_EQ(cell.of(50), Standing::placeable);
  EXPECT_EQ(cell.of(98), Standing::kept) << "one of the few that did not";
}

struct Vanished {
  std::uint32_t size;
  std::uint32_t gone;
  int apart;  // seconds
  bool freezes;
};
constexpr Vanished kVanished[] = {
    {4, 1, 0, false},   {4, 2, 0, true},   {20, 2, 0, false},   {20, 3, 0, true},
    {500, 3, 0, false}, {500, 4, 0, true}, {500, 4, 11, false}, {500, 4, 10, true},
};

TEST(Members, ATenthOfACellOrMoreThanThreeWithinHalfAMinuteAreMany) {
  for (const Vanished& row : kVanished) {
    Observed cell{row.size};
    for (std::uint32_t i = 0; i < row.gone; ++i) {
      if (i > 0) cell.pass(row.apart);
      cell.members.lease_gone(in_cell_1(i), cell.now);
    }
    EXPECT_EQ(cell.members.is_frozen(1), row.freezes)
        << row.gone << " of " << row.size << ", " << row.apart << " s apart";
  }
}

TEST(Members, NodesThatReallyDiedEndTheFreeze) {
  Observed cell{20};
  for (std::uint32_t i = 0; i < 5; ++i) cell.members.lease_gone(in_cell_1(i), cell.now);
  EXPECT_TRUE(cell.members.is_frozen(1));
  cell.probe(31, 5, 20);
  EXPECT_EQ(cell.members.declare_dead(cell.now).size(), 5U);
  EXPECT_FALSE(cell.members.is_frozen(1));
  EXPECT_EQ(cell.of(10), Standing::placeable);
}

TEST(Members, WhoSeesMostOfACellSilentDeclaresNobodyDead) {
  Observed cell{20};
  for (std::uint32_t i = 0; i < 20; ++i) cell.members.lease_gone(in_cell_1(i), cell.now);
  cell.probe(100, 20, 20);
  EXPECT_TRUE(cell.members.declare_dead(cell.now).empty());
  cell.probe(100, 10, 20);
  EXPECT_EQ(cell.members.declare_dead(cell.now).size(), 10U);
}

TEST(Members, WhoWasCutOffBelievesInASilenceOnlyFromItsEndOn) {
  Observed cell{20};
  for (std::uint32_t i = 0; i < 20; ++i) cell.members.lease_gone(in_cell_1(i), cell.now);
  for (int second = 0; second < 100; ++second) {
    cell.probe(1, 20, 20);
    EXPECT_TRUE(cell.members.declare_dead(cell.now).empty());
  }
  // It reaches them again, one after the other; the last one is really dead.
  for (std::uint32_t i = 20; i > 1; --i) {
    cell.probe(1, i - 1, 20);
    EXPECT_TRUE(cell.members.declare_dead(cell.now).empty()) << i << " were silent until now";
  }
  cell.probe(31, 1, 20);
  EXPECT_EQ(cell.members.declare_dead(cell.now), std::vector{in_cell_1(0)});
}

TEST(Members, AnotherCellIsNotFrozenWithIt) {
  Observed cell{20};
  const NodeId other{.cell = 2, .node = 1};
  cell.members.seen(other, said(1), cell.now);
  for (std::uint32_t i = 0; i < 20; ++i) cell.members.lease_gone(in_cell_1(i), cell.now);
  EXPECT_FALSE(cell.members.is_frozen(2));
  cell.members.lease_gone(other, cell.now);
  cell.members.answered(other, cell.now);
  EXPECT_EQ(cell.members.standing(other, cell.now), Standing::kept);
}

TEST(Members, TellsANewStartFromANewSummary) {
  Observed cell{1};
  EXPECT_EQ(cell.members.seen(in_cell_1(7), said(1), cell.now), News::joined);
  EXPECT_EQ(cell.members.seen(in_cell_1(7), said(5), cell.now), News::updated);
  EXPECT_EQ(cell.members.seen(in_cell_1(7), said(4), cell.now), News::stale);
  EXPECT_EQ(cell.members.seen(in_cell_1(7), said(0, 2), cell.now), News::reborn);
  EXPECT_EQ(cell.members.seen(in_cell_1(7), said(9, 1), cell.now), News::stale);
  EXPECT_EQ(cell.members.summary(in_cell_1(7))->gauge.at, (Stamp{2, 0}));
}

TEST(Members, WhoWasGivenUpComesBackByItsKeyAlone) {
  Observed cell{20};
  cell.members.lease_gone(in_cell_1(0), cell.now);
  cell.probe(40, 1, 20);
  cell.members.declare_dead(cell.now);
  cell.members.answered(in_cell_1(0), cell.now);
  EXPECT_EQ(cell.of(0), Standing::dead);
  EXPECT_EQ(cell.members.seen(in_cell_1(0), said(2), cell.now), News::returned);
  EXPECT_EQ(cell.of(0), Standing::placeable);
}

// C307
TEST(Members, WhoWasExpelledIsDeadHoweverItAnswersUntilItsOwnKeyIsBack) {
  Observed cell{20};
  cell.probe(1, 0, 20);
  EXPECT_EQ(cell.of(0), Standing::placeable);
  EXPECT_TRUE(cell.members.expel(in_cell_1(0), cell.now));
  EXPECT_FALSE(cell.members.expel(in_cell_1(0), cell.now)) << "told once";
  cell.probe(600, 0, 20);
  EXPECT_EQ(cell.of(0), Standing::dead);
  cell.members.lease_gone(in_cell_1(0), cell.now);
  EXPECT_EQ(cell.of(0), Standing::dead) << "whoever takes the word away brings nobody back";
  EXPECT_EQ(cell.members.seen(in_cell_1(0), said(0, 0), cell.now), News::returned)
      << "another machine in its place, which begins anew";
  EXPECT_EQ(cell.of(0), Standing::placeable);
}

TEST(Members, ADrainingNodeTakesNothingNew) {
  Observed cell{20};
  Summary draining = said(2);
  draining.is_draining = true;
  cell.members.seen(in_cell_1(0), draining, cell.now);
  EXPECT_EQ(cell.of(0), Standing::kept);
  EXPECT_FALSE(cell.members.standing(in_cell_1(99), cell.now)) << "not known";
}

}  // namespace
}  // namespace cordon::fleet
