// SPDX-License-Identifier: Apache-2.0
#include "os/random.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace cordon::os {
namespace {

TEST(Random, TwoDrawsDiffer) {
  const auto one = random_bytes<32>();
  const auto two = random_bytes<32>();
  ASSERT_TRUE(one && two);
  EXPECT_NE(*one, *two);
}

TEST(Random, FillsEveryPartOfALargeBuffer) {
  std::vector<std::byte> bytes(100'000);
  ASSERT_TRUE(getrandom(bytes));
  for (std::size_t at = 0; at < bytes.size(); at += 1000) {
    EXPECT_TRUE(std::any_of(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                            bytes.begin() + static_cast<std::ptrdiff_t>(at + 1000),
                            [](std::byte b) { return b != std::byte{0}; }))
        << at;
  }
  EXPECT_TRUE(getrandom({}));
}

TEST(Random, AKernelIsNotReseededByWhoMayNot) {
  const auto seed = random_bytes<64>();
  ASSERT_TRUE(seed);
  const auto random = open_random();
  ASSERT_TRUE(random);
  const Status done = reseed(*random, *seed);
  if (::geteuid() == 0) {
    EXPECT_TRUE(done) << done.error().text();
  } else {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().cause().value(), EPERM);
  }
}

}  // namespace
}  // namespace cordon::os
