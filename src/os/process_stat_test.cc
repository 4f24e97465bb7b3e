// SPDX-License-Identifier: Apache-2.0
#include "os/process_stat.h"

#include <unistd.h>

#include <gtest/gtest.h>

namespace cordon::os {
namespace {

constexpr const char* kLine =
    "4242 (a ) Z (b) S 1 4242 4242 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 987654 1 2 3\n";

TEST(ProcessStat, IsReadBehindANameThatLooksLikeFields) {
  const auto stat = parse_process_stat(kLine);
  ASSERT_TRUE(stat) << stat.error().text();
  EXPECT_EQ(stat->state, 'S');
  EXPECT_FALSE(stat->has_ended());
  EXPECT_EQ(stat->started, 987'654U);
  EXPECT_EQ(stat->cpu, std::chrono::seconds{100} / ::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(stat->own, std::chrono::microseconds{30'000'000} / ::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(stat->threads, 1U);
}

TEST(ProcessStat, RefusesEveryLineThatIsCutShort) {
  const std::string whole = kLine;
  const std::size_t needed = whole.find("987654") + 1;
  for (std::size_t length = 0; length < needed; ++length) {
    EXPECT_FALSE(parse_process_stat(whole.substr(0, length))) << length;
  }
}

TEST(ProcessStat, RefusesWordsForNumbers) {
  EXPECT_FALSE(parse_process_stat("1 (x) S 1 1 1 0 -1 0 1 2 3 4 a 20 30 40 20 0 1 0 7 1\n"));
  EXPECT_FALSE(parse_process_stat("1 (x) S 1 1 1 0 -1 0 1 2 3 4 1 20 30 40 20 0 1 0 x 1\n"));
}

TEST(ProcessStat, OfThisProcessIsStableAndOfNoneIsNotFound) {
  const auto one = read_process_stat(::getpid());
  const auto two = read_process_stat(::getpid());
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->started, two->started);
  EXPECT_GT(one->started, 0U);
  const auto none = read_process_stat(0x7ffffff0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Errc::not_found);
}

}  // namespace
}  // namespace cordon::os
