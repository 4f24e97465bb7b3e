// SPDX-License-Identifier: Apache-2.0
#include "recorder/watch_table.h"

#include <set>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/mapping.h"
#include "recorder/kernel/layout.h"

namespace cordon::recorder {
namespace {

// As much memory as the program has.
os::Fd memory() {
  os::Fd map{::memfd_create("watched", MFD_CLOEXEC)};
  EXPECT_EQ(::ftruncate(map.get(), sizeof(cordon_watched)), 0);
  return map;
}

constexpr WatchTable::Watch kWatch{.tag = 7, .classes = 31, .per_second = 10};

TEST(WatchTable, HoldsWhoIsWatchedUntilItIsForgotten) {
  const os::Fd map = memory();
  auto table = WatchTable::open(map);
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->all().empty());
  ASSERT_TRUE(table->watch(42, kWatch));
  ASSERT_TRUE(table->watch(42, kWatch)) << "again";
  ASSERT_EQ(table->all().size(), 1U);
  EXPECT_EQ(table->all()[0].group, 42U);
  EXPECT_EQ(table->all()[0].tag, 7U);
  EXPECT_FALSE(table->watch(0, kWatch)) << "0 is nobody";
  auto other = WatchTable::open(map);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->all().size(), 1U) << "the next node sees it";
  table->forget(42);
  table->forget(42);
  EXPECT_TRUE(other->all().empty());
}

// The kernel looks at two rows and no further: as many as a node has must find a place in theirs.
TEST(WatchTable, HasPlacesForThousandsWhateverTheirNumbers) {
  for (const std::uint64_t step : {1ULL, 4096ULL, 0x100000000ULL, 0x9e3779b97f4a7c15ULL}) {
    auto table = WatchTable::open(memory());
    ASSERT_TRUE(table);
    std::set<std::uint64_t> groups;
    for (std::uint64_t i = 1; i <= 8192; ++i) {
      ASSERT_TRUE(table->watch(i * step, kWatch)) << i << " of " << step;
      groups.insert(i * step);
    }
    std::set<std::uint64_t> held;
    for (const auto& watched : table->all()) held.insert(watched.group);
    EXPECT_EQ(held, groups);
  }
}

TEST(WatchTable, SaysWhenItIsFull) {
  auto table = WatchTable::open(memory());
  ASSERT_TRUE(table);
  std::uint64_t count = 0;
  while (table->watch(count + 1, kWatch)) {
    ASSERT_LE(++count, CORDON_PLACES);
  }
  EXPECT_GT(count, CORDON_PLACES / 2);
  EXPECT_EQ(table->watch(count + 1, kWatch).error().code(), Errc::exhausted);
}

TEST(WatchTable, CountsBeginAnewWithEachWhoIsWatched) {
  const os::Fd map = memory();
  auto table = WatchTable::open(map);
  ASSERT_TRUE(table && table->watch(42, kWatch));
  const auto raw = os::Mapping::of(map, 0, sizeof(cordon_watched), os::Mapping::Access::write);
  ASSERT_TRUE(raw);
  auto* const shared = reinterpret_cast<cordon_watched*>(raw->bytes().data());
  for (std::size_t place = 0; place < std::size(shared->groups); ++place) {
    shared->watches[place].over = 3;
    shared->watches[place].lost = 5;
  }
  EXPECT_EQ(table->untold(42), (Untold{3, 5}));
  ASSERT_TRUE(table->watch(42, kWatch));
  EXPECT_EQ(table->untold(42), (Untold{3, 5})) << "who goes on keeps them";
  EXPECT_EQ(table->forget(42), (Untold{3, 5}));
  EXPECT_EQ(table->untold(42), Untold{});
  ASSERT_TRUE(table->watch(42, kWatch));
  EXPECT_EQ(table->untold(42), Untold{});
}

}  // namespace
}  // namespace cordon::recorder
