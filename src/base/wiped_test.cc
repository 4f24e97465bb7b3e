// SPDX-License-Identifier: Apache-2.0
#include "base/wiped.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

namespace cordon {
namespace {

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

TEST(Wiped, LeavesZeros) {
  std::array<std::byte, 7> bytes;
  bytes.fill(std::byte{0x5a});
  ASSERT_FALSE(is_zero(bytes));
  wipe(std::span{bytes}.subspan(1, 5));
  EXPECT_TRUE(is_zero(std::span{bytes}.subspan(1, 5)));
  EXPECT_EQ(bytes[0], std::byte{0x5a});
  EXPECT_EQ(bytes[6], std::byte{0x5a});
  wipe({});
}

TEST(Wiped, AVectorThatGrowsKeepsItsContent) {
  WipedBytes bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<std::byte>(i));
  ASSERT_EQ(bytes.size(), 1000U);
  for (std::size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], static_cast<std::byte>(i));
}

}  // namespace
}  // namespace cordon
