// SPDX-License-Identifier: Apache-2.0
// C130: a flood of refusals is a bounded record, and none of them is missing in its counts.
#include "node/refusal_tally.h"

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

Denial refusal(std::size_t number, std::string code = "CORDON-NET-NAME") {
  return {.code = std::move(code), .tried = "look up n" + std::to_string(number)};
}

std::uint64_t sum(const std::vector<Denial>& told) {
  std::uint64_t count = 0;
  for (const Denial& denial : told) count += denial.count;
  return count;
}

TEST(RefusalTally, WritesFewOneByOne) {
  ManualClock clock{WallTime{}};
  RefusalTally tally;
  for (std::size_t number = 0; number < RefusalTally::kEach; ++number) {
    const auto told = tally.take(refusal(number), clock.ticks());
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].tried, refusal(number).tried);
  }
  EXPECT_TRUE(tally.is_empty());
}

TEST(RefusalTally, WritesAFloodInBoundsAndCountsAllOfIt) {
  ManualClock clock{WallTime{}};
  RefusalTally tally;
  constexpr std::size_t kSeconds = 3;
  constexpr std::size_t kFlood = 10'000;
  std::vector<Denial> written;
  for (std::size_t second = 0; second < kSeconds; ++second) {
    for (std::size_t number = 0; number < kFlood; ++number) {
      const auto told = tally.take(refusal(number), clock.ticks());
      written.insert(written.end(), told.begin(), told.end());
    }
    clock.advance(std::chrono::seconds{1});
  }
  const auto rest = tally.flush();
  written.insert(written.end(), rest.begin(), rest.end());
  EXPECT_EQ(written.size(), kSeconds * (RefusalTally::kEach + 1));
  EXPECT_EQ(sum(written), kSeconds * kFlood);
  EXPECT_TRUE(tally.flush().empty());
}

TEST(RefusalTally, LosesNoKindInAFloodOfAnother) {
  ManualClock clock{WallTime{}};
  RefusalTally tally;
  for (std::size_t number = 0; number < 1000; ++number) tally.take(refusal(number), clock.ticks());
  EXPECT_TRUE(tally.take(refusal(1, "CORDON-NET-SECRET"), clock.ticks()).empty());
  const auto told = tally.flush();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1].code, "CORDON-NET-SECRET");
  EXPECT_EQ(told[1].count, 1U);
}

TEST(RefusalTally, HasBoundsForKindsToo) {
  ManualClock clock{WallTime{}};
  RefusalTally tally;
  for (std::size_t number = 0; number < 1000; ++number) {
    tally.take(refusal(number, "CODE-" + std::to_string(number)), clock.ticks());
  }
  const auto told = tally.flush();
  EXPECT_EQ(told.size(), RefusalTally::kKinds + 1);
  EXPECT_EQ(sum(told), 1000 - RefusalTally::kEach);
}

}  // namespace
}  // namespace cordon::node
