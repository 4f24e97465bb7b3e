// SPDX-License-Identifier: Apache-2.0
#include "node/census.h"

#include <algorithm>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

// NOLINTBEGIN(bugprone-unchecked-optional-access): asserted
namespace cordon::node {
namespace {

// What a reader has that stands at `told`, and where it stands then.
std::vector<std::string> read(const Census& census, std::uint64_t& told, std::size_t most = 100) {
  std::vector<std::string> lines;
  for (const auto& [number, resident] : census.behind(told, most)) {
    lines.push_back((resident->is_gone ? "-" : "+") + resident->id);
    told = number;
  }
  return lines;
}

using Lines = std::vector<std::string>;

class CensusOf : public testing::Test {
 protected:
  Census::Entry enter(std::string id) {
    return census_.enter({.id = std::move(id), .tenant = "a", .is_build = false, .unit = {}});
  }
  asio::io_context loop_{1};
  Census census_{loop_.get_executor()};
};

TEST_F(CensusOf, TellsAllAndThenWhatHasChanged) {
  std::uint64_t told = 0;
  auto one = enter("1");
  auto two = enter("2");
  EXPECT_EQ(read(census_, told), (Lines{"+1", "+2"}));
  EXPECT_EQ(read(census_, told), Lines{});
  census_.changed("1");
  {
    const auto gone = std::move(two);
  }
  EXPECT_EQ(read(census_, told), (Lines{"+1", "-2"}));
  census_.changed("2");
  EXPECT_EQ(read(census_, told), Lines{}) << "nobody of that name is there";
}

TEST_F(CensusOf, WhatChangesBetweenTwoReadingsIsToldOnceAsItIs) {
  std::uint64_t told = 0;
  {
    auto one = enter("1");
    one.changed();
    one.changed();
  }
  EXPECT_EQ(read(census_, told), Lines{"-1"}) << "also one that came and went";
}

TEST_F(CensusOf, InPiecesIsTheSame) {
  std::vector<Census::Entry> held;
  for (int at = 0; at < 5; ++at) held.push_back(enter(std::to_string(at)));
  std::uint64_t told = 0;
  EXPECT_EQ(read(census_, told, 3), (Lines{"+0", "+1", "+2"}));
  held[0].changed();
  EXPECT_EQ(read(census_, told, 3), (Lines{"+3", "+4", "+0"}));
}

TEST_F(CensusOf, ForgetsWhatIsGoneForLongAndSaysSo) {
  auto stays = enter("stays");
  std::uint64_t told = 0;
  auto seen = enter("seen");
  read(census_, told);
  {
    const auto gone = std::move(seen);
  }
  EXPECT_EQ(census_.forgotten(), 0U);
  for (std::size_t at = 0; at < Census::kMostGone; ++at) enter(std::to_string(at));
  EXPECT_GT(census_.forgotten(), told) << "a reader that stood here has missed an end";
  std::uint64_t fresh = 0;
  const Lines all = read(census_, fresh, 2 * Census::kMostGone);
  EXPECT_EQ(std::ranges::count(all, "+stays"), 1);
  EXPECT_EQ(std::ranges::count(all, "-seen"), 0);
}

TEST_F(CensusOf, WhatAnEarlierIndexAllowedHoldsNoMore) {
  const WallTime now{std::chrono::seconds{1000}};
  const wire::Unit unit{.index = 7, .number = 1, .before = now + std::chrono::seconds{1}};
  EXPECT_FALSE(census_.check(unit, now)) << "nobody has read here yet";
  EXPECT_TRUE(census_.begin_index(7));
  EXPECT_TRUE(census_.check(unit, now));
  EXPECT_FALSE(census_.check(unit, unit.before)) << "late";
  EXPECT_TRUE(census_.begin_index(7)) << "its next reading";
  EXPECT_TRUE(census_.check(unit, now));
  EXPECT_TRUE(census_.begin_index(8));
  EXPECT_FALSE(census_.check(unit, now));
  EXPECT_EQ(census_.begin_index(7).error().code(), Errc::exists);
}

TEST_F(CensusOf, AnEntryOutlivesIt) {
  auto other = std::make_unique<Census>(loop_.get_executor());
  const auto entry =
      other->enter({.id = "1", .tenant = "a", .is_build = false, .unit = std::nullopt});
  other.reset();
}

TEST(Census, MakesAGaugeLater) {
  asio::io_context loop{1};
  Census census{loop.get_executor()};
  const Room room{3, 10, false};
  EXPECT_EQ(gauge_of(room, census).seq, 0U);
  const auto entry =
      census.enter({.id = "1", .tenant = "a", .is_build = false, .unit = std::nullopt});
  EXPECT_EQ(gauge_of(room, census).seq, 1U);
  census.changed("1");
  EXPECT_EQ(gauge_of(room, census).seq, 2U);
}

}  // namespace
}  // namespace cordon::node
// NOLINTEND(bugprone-unchecked-optional-access)
