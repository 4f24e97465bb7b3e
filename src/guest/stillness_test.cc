// SPDX-License-Identifier: Apache-2.0
#include "guest/stillness.h"

#include <gtest/gtest.h>

namespace cordon::guest {
namespace {

char state_in(std::string_view stat) {
  const auto line = line_of(stat);
  return line ? line->state : '-';
}

TEST(Stillness, ReadsAStateBehindAnyName) {
  EXPECT_EQ(state_in("7 (sh) S 1 7 7 0"), 'S');
  EXPECT_EQ(state_in("7 (a) R (b) T 1 7"), 'T') << "a name with brackets of its own";
  EXPECT_EQ(state_in("7 () t 1"), 't');
  EXPECT_EQ(state_in("7 (sh)"), '-');
  EXPECT_EQ(state_in("7 (sh) "), '-');
  EXPECT_EQ(state_in(""), '-');
}

TEST(Stillness, ReadsWhoseSessionItIsAndHowManyThreadsItHas) {
  const auto line = line_of("12 (a (b) c) Z 1 12 9 0 -1 4194624 1 2 3 4 5 6 7 8 20 0 3 0 1234 0 0");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->session, 9);
  EXPECT_EQ(line->threads, 3);
  EXPECT_EQ(line_of("12 (a) Z 1 12")->session, 0) << "an end that comes too soon";
}

TEST(Stillness, OneThatIsTracedAndStopsOrIsDeadDoesNotRun) {
  for (const char state : {'T', 't', 'Z', 'X'}) EXPECT_TRUE(stands(state)) << state;
  for (const char state : {'R', 'S', 'D', 'I'}) EXPECT_FALSE(stands(state)) << state;
}

TEST(Stillness, IsLookedAfterOnlyWhileItIsOn) {
  const Stillness stillness{[](pid_t) { return false; }};
  EXPECT_FALSE(stillness.deadline());
}

}  // namespace
}  // namespace cordon::guest
