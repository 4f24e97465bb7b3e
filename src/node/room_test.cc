// SPDX-License-Identifier: Apache-2.0
#include "node/room.h"

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

TEST(Room, TakesAsManyAsItHasSlots) {
  Room room{3, 2, false};
  std::optional<NoRoom> why;
  auto one = room.take(why);
  auto two = room.take(why);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(room.take(why).error().code(), Errc::unavailable);
  EXPECT_EQ(why, NoRoom::full);
  one = Room::Place{};
  EXPECT_TRUE(room.take(why));
}

TEST(Room, WithoutSlotsIsNeverFull) {
  Room room{3, {}, false};
  std::vector<Room::Place> places;
  std::optional<NoRoom> why;
  for (int i = 0; i < 1000; ++i) {
    auto place = room.take(why);
    ASSERT_TRUE(place);
    places.push_back(*std::move(place));
  }
}

TEST(Room, WhatLivedBeforeIsNeverRefused) {
  Room room{3, 1, true};
  const Room::Place one = room.take_over();
  const Room::Place two = room.take_over();
  EXPECT_EQ(room.gauge().free, 0U);
}

TEST(Room, ThatDrainsTakesNothingNewUntilItGoesOn) {
  Room room{3, 10, false};
  std::optional<NoRoom> why;
  room.drain(true);
  EXPECT_FALSE(room.take(why));
  EXPECT_EQ(why, NoRoom::draining);
  EXPECT_EQ(gauge_text(room.gauge()), "3 1 10 0");
  room.drain(false);
  EXPECT_TRUE(room.take(why));
}

// By whichever way two gauges come, the later one is known by its number.
TEST(Room, EachChangeHasALaterNumber) {
  Room room{3, 10, false};
  EXPECT_EQ(gauge_text(room.gauge()), "3 0 10 10");
  std::optional<NoRoom> why;
  {
    const auto place = room.take(why);
    EXPECT_EQ(gauge_text(room.gauge()), "3 1 10 9");
  }
  EXPECT_EQ(gauge_text(room.gauge()), "3 2 10 10");
}

}  // namespace
}  // namespace cordon::node
