// SPDX-License-Identifier: Apache-2.0
#include "guest/stillness.h"

#include <gtest/gtest.h>

namespace cordon::guest {
namespace {

TEST(Stillness, ReadsAStateBehindAnyName) {
  EXPECT_EQ(state_in("7 (sh) S 1 7 7 0"), 'S');
  EXPECT_EQ(state_in("7 (a) R (b) T 1 7"), 'T') << "a name with brackets of its own";
  EXPECT_EQ(state_in("7 () t 1"), 't');
  EXPECT_FALSE(state_in("7 (sh)"));
  EXPECT_FALSE(state_in("7 (sh) "));
  EXPECT_FALSE(state_in(""));
}

TEST(Stillness, OneThatIsTracedAndStopsOrIsDeadDoesNotRun) {
  for (const char state : {'T', 't', 'Z', 'X'}) EXPECT_TRUE(stands(state)) << state;
  for (const char state : {'R', 'S', 'D', 'I'}) EXPECT_FALSE(stands(state)) << state;
}

}  // namespace
}  // namespace cordon::guest
