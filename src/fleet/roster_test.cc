// SPDX-License-Identifier: Apache-2.0
#include "fleet/roster.h"

#include <random>

#include <gtest/gtest.h>

#include "fleet/nodes_test.h"

namespace cordon::fleet {
namespace {

using std::chrono::seconds;

constexpr Ticks kNow{seconds{1000}};

Placement::Random any(std::uint32_t seed) {
  return [random = std::minstd_rand{seed}](std::size_t end) mutable { return random() % end; };
}

Summary with_room(std::uint32_t free, std::uint32_t epoch = 1, std::uint64_t seq = 1) {
  return {.address = "192.0.2.1:7070", .gauge = {.at = {epoch, seq}, .slots = 10, .free = free}};
}

etcd::Event key_put(std::string key, std::string value) {
  return {.kind = etcd::Event::Kind::put,
          .now = {.key = std::move(key), .value = std::move(value), .mod_revision = 1}};
}
etcd::Event key_put(NodeId node, const Summary& summary) {
  return key_put(key_of(node), encode(summary));
}
etcd::Event key_gone(NodeId node) {
  return {.kind = etcd::Event::Kind::removed, .now = {.key = key_of(node)}};
}

Roster of_nodes(std::uint32_t count) {
  Roster roster{Members::Rules{}, any(1)};
  std::vector<etcd::Event> events;
  events.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) events.push_back(key_put(in_cell_1(i), with_room(5)));
  EXPECT_EQ(roster.took(1, events, kNow).size(), count);
  return roster;
}

TEST(Roster, PlacesNothingWhereTheLeaseIsGoneAndStillAsksThere) {
  Roster roster = of_nodes(1);
  EXPECT_EQ(roster.choose("a"), in_cell_1(0));
  roster.took(1, {{key_gone(in_cell_1(0))}}, kNow);
  EXPECT_FALSE(roster.choose("a"));
  EXPECT_EQ(roster.address_of(in_cell_1(0)), "192.0.2.1:7070");
}

// C310
TEST(Roster, BelievesAKeyOnlyOfItsCellAndASummaryOnlyThatCanBe) {
  Roster roster{Members::Rules{}, any(1)};
  const std::string good = encode(with_room(5));
  roster.took(
      1,
      {{key_put(key_of({.cell = 2, .node = 1}), good), key_put("/cordon/cells/1/nodes/x", good),
        key_put(key_of(in_cell_1(1)), "{}"), key_gone(in_cell_1(9))}},
      kNow);
  EXPECT_TRUE(roster.all().empty());
  EXPECT_FALSE(roster.choose("a"));
  roster.took(1, {{key_put(key_of(in_cell_1(1)), good)}}, kNow);
  EXPECT_TRUE(roster.choose("a")) << "the same, where it stands";
}

// C308
TEST(Roster, AnAnswerKnowsBetterThanAnOlderKey) {
  Roster roster = of_nodes(1);
  EXPECT_EQ(roster.free_of(in_cell_1(0)), 5U);
  roster.answered(in_cell_1(0), with_room(0, 1, 7).gauge, kNow);
  EXPECT_EQ(roster.free_of(in_cell_1(0)), 0U);
  EXPECT_FALSE(roster.choose("a"));
  roster.took(1, {{key_put(in_cell_1(0), with_room(9, 1, 6))}}, kNow);
  EXPECT_FALSE(roster.choose("a")) << "said before it";
  roster.took(1, {{key_put(in_cell_1(0), with_room(9, 1, 8))}}, kNow);
  EXPECT_TRUE(roster.choose("a"));
}

TEST(Roster, KnowsWhoWasExpelledAlsoAfterItsOwnNextStart) {
  Roster roster = of_nodes(2);
  const auto news =
      roster.took(1, {{key_put(key_of(in_cell_1(0)), R"({"format":1,"expelled":true})")}}, kNow);
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].what, Members::News::expelled);
  EXPECT_FALSE(roster.address_of(in_cell_1(0))) << "nobody connects there";
  for (int time = 0; time < 20; ++time) EXPECT_EQ(roster.choose("a"), in_cell_1(1));
  Roster next{Members::Rules{}, any(1)};
  next.restore(roster.saved(), kNow);
  EXPECT_EQ(next.standing(in_cell_1(0), kNow), Standing::dead);
  EXPECT_FALSE(next.address_of(in_cell_1(0)));
  EXPECT_EQ(next.address_of(in_cell_1(1)), "192.0.2.1:7070");
}

TEST(Roster, TellsOfANewStart) {
  Roster roster = of_nodes(1);
  const auto news = roster.took(1, {{key_put(in_cell_1(0), with_room(5, 2))}}, kNow);
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].what, Members::News::reborn);
  EXPECT_FALSE(news[0].was_dead);
  roster.took(1, {{key_put(key_of(in_cell_1(0)), R"({"format":1,"expelled":true})")}}, kNow);
  const auto later = roster.took(1, {{key_put(in_cell_1(0), with_room(5, 3))}}, kNow);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_TRUE(later[0].was_dead) << "whose keys came to others meanwhile";
}

TEST(Roster, WhenAllKeysGoItGoesOnWithThoseThatAnswer) {
  Roster roster = of_nodes(20);
  std::vector<etcd::Event> all_gone;
  for (std::uint32_t i = 0; i < 20; ++i) {
    roster.answered(in_cell_1(i), std::nullopt, kNow);
    all_gone.push_back(key_gone(in_cell_1(i)));
  }
  roster.took(1, all_gone, kNow);
  EXPECT_TRUE(roster.is_frozen(1));
  EXPECT_TRUE(roster.choose("a"));
  roster.tick(kNow + seconds{11});
  EXPECT_FALSE(roster.choose("a")) << "nobody has answered for a while";
  roster.answered(in_cell_1(7), std::nullopt, kNow + seconds{11});
  EXPECT_EQ(roster.choose("a"), in_cell_1(7));
}

TEST(Roster, StartsFromTheDiskWhileEtcdIsAway) {
  const Roster before = of_nodes(5);
  Roster roster{Members::Rules{}, any(1)};
  roster.restore(before.saved() + "garbage\n/cordon/cells/1/nodes/8 {}\n", kNow);
  EXPECT_EQ(roster.all().size(), 5U);
  EXPECT_FALSE(roster.choose("a")) << "nobody has answered yet";
  roster.answered(in_cell_1(3), std::nullopt, kNow);
  EXPECT_EQ(roster.choose("a"), in_cell_1(3));
  // etcd is back, and knows four of them.
  std::vector<etcd::Event> events;
  events.reserve(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    events.push_back(key_put(in_cell_1(i), with_room(5, 1, 2)));
  }
  roster.took(1, events, kNow);
  EXPECT_FALSE(roster.is_frozen(1));
  roster.answered(in_cell_1(4), std::nullopt, kNow);
  EXPECT_EQ(roster.standing(in_cell_1(4), kNow), Standing::kept);
  EXPECT_EQ(roster.standing(in_cell_1(0), kNow), Standing::placeable);
}

}  // namespace
}  // namespace cordon::fleet
