// SPDX-License-Identifier: Apache-2.0
#include "os/locked_memory.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "os/test_support.h"

namespace cordon::os {
namespace {

// The VmFlags of the mapping that `at` lies in.
std::string flags_at(const void* at) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(at);
  std::ifstream maps{"/proc/self/smaps"};
  std::string line;
  bool inside = false;
  while (std::getline(maps, line)) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char dash = 0;
    std::istringstream head{line};
    if (head >> std::hex >> from >> dash >> to && dash == '-') {
      inside = from <= wanted && wanted < to;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line + ' ';
    }
  }
  return {};
}

TEST(LockedMemory, IsInNoDumpAndInNoChild) {
  auto memory = LockedMemory::create(100);
  ASSERT_TRUE(memory) << memory.error().text();
  ASSERT_EQ(memory->bytes().size(), 100U);
  EXPECT_TRUE(std::ranges::all_of(memory->bytes(), [](std::byte b) { return b == std::byte{0}; }));
  const std::string flags = flags_at(memory->bytes().data());
  EXPECT_NE(flags.find(" dd "), std::string::npos) << flags;
  EXPECT_NE(flags.find(" dc "), std::string::npos) << flags;
  // Ordinary memory has neither.
  const auto ordinary = std::make_unique<std::byte[]>(1 << 20);
  EXPECT_EQ(flags_at(ordinary.get()).find(" dc "), std::string::npos);
}

TEST(LockedMemory, MovesWithItsContent) {
  auto memory = LockedMemory::create(8);
  ASSERT_TRUE(memory);
  memory->bytes()[3] = std::byte{7};
  const std::byte* const at = memory->bytes().data();
  LockedMemory other = *std::move(memory);
  EXPECT_EQ(other.bytes().data(), at);
  EXPECT_EQ(other.bytes()[3], std::byte{7});
  EXPECT_TRUE(memory->bytes().empty());  // NOLINT(bugprone-use-after-move): what is left of it
  other = LockedMemory{};
  EXPECT_TRUE(other.bytes().empty());
}

}  // namespace
}  // namespace cordon::os
