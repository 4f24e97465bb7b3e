// SPDX-License-Identifier: Apache-2.0
#include "wire/unit.h"

#include <gtest/gtest.h>

namespace cordon::wire {
namespace {

TEST(Unit, IsTheSameAfterItWasWrittenDown) {
  const Unit unit{.index = 1'763'522'050'123,
                  .number = 17,
                  .before = WallTime{std::chrono::seconds{1'763'522'060}}};
  EXPECT_EQ(to_text(unit), "1763522050123 17 1763522060");
  EXPECT_EQ(*read_unit(to_text(unit)), unit);
  for (const std::string_view text : {"", "1 2", "1 2 x", "1 2 3 4", "1  2 3", "1 2 99999999999"}) {
    EXPECT_FALSE(read_unit(text)) << text;
  }
}

}  // namespace
}  // namespace cordon::wire
