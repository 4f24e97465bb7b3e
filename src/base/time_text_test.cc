// SPDX-License-Identifier: Apache-2.0
#include "base/time_text.h"

#include <gtest/gtest.h>

namespace cordon {
namespace {

TEST(TimeText, IsUtcToTheMillisecond) {
  EXPECT_EQ(to_text(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_text(WallTime{std::chrono::milliseconds{1'700'000'000'123}}),
            "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(to_text(WallTime{std::chrono::milliseconds{951'782'399'009}}),
            "2000-02-28T23:59:59.009Z");
}

}  // namespace
}  // namespace cordon
