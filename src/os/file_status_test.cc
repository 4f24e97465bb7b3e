// SPDX-License-Identifier: Apache-2.0
#include "os/file_status.h"

#include <limits>

#include <gtest/gtest.h>

namespace cordon::os {
namespace {

TEST(FileStatus, HoldsTimesAsFarAsItCan) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(file_time(1, 7).time_since_epoch().count(), 1'000'000'007);
  EXPECT_EQ(file_time(-1, 7).time_since_epoch().count(), -999'999'993);
  EXPECT_EQ(file_time(15'032'385'535, 0), FileTime::max());  // the last one of ext4
  EXPECT_EQ(file_time(kMost, 999'999'999), FileTime::max());
  EXPECT_EQ(file_time(kLeast, 0), FileTime::min());
  EXPECT_LT(file_time(9'223'372'035, 999'999'999), file_time(9'223'372'036, 0));
  EXPECT_GT(file_time(-9'223'372'035, 0), file_time(-9'223'372'037, 0));
}

}  // namespace
}  // namespace cordon::os
