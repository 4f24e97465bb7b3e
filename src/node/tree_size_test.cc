// SPDX-License-Identifier: Apache-2.0
#include "node/tree_size.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

namespace fs = std::filesystem;

class TreeSizeTest : public ::testing::Test {
 protected:
  ~TreeSizeTest() override {
    std::error_code ignored;
    fs::remove_all(top_, ignored);
  }

  void write(const fs::path& name, std::size_t bytes) const {
    fs::create_directories((top_ / name).parent_path());
    std::ofstream{top_ / name} << std::string(bytes, 'x') << std::flush;
  }
  std::uint64_t count() {
    while (!size_.step(Ticks::max())) {
    }
    return size_.total();
  }

  static fs::path fresh() {
    std::string name = (fs::temp_directory_path() / "cordon-tree-XXXXXX").string();
    return ::mkdtemp(name.data()) != nullptr ? fs::path{name} : fs::path{};
  }

  fs::path top_ = fresh();
  TreeSize size_{top_.string()};
};

TEST_F(TreeSizeTest, CountsFilesAtAnyDepthWithinWhatTheyTake) {
  const std::uint64_t empty = count();
  write("a", 100'000);
  write("d/e/f/b", 100'000);
  const std::uint64_t full = count() - empty;
  EXPECT_GE(full, 200'000U);
  EXPECT_LE(full, 300'000U);
  EXPECT_TRUE(size_.complete());
}

TEST_F(TreeSizeTest, CountsAFileWithTwoNamesOnce) {
  write("a", 100'000);
  const std::uint64_t before = count();
  fs::create_hard_link(top_ / "a", top_ / "b");
  EXPECT_EQ(count(), before);
}

TEST_F(TreeSizeTest, FollowsNoLinkAndCountsNoHole) {
  write("a", 1000);
  const std::uint64_t before = count();
  fs::create_symlink("/usr", top_ / "far");
  EXPECT_LT(count(), before + 100'000);
  fs::resize_file(top_ / "a", std::uintmax_t{1} << 30U);
  EXPECT_LT(count(), before + 100'000);
}

TEST_F(TreeSizeTest, SaysWhenItDidNotSeeAll) {
  fs::path deep = "d";
  for (int level = 0; level < 110; ++level) deep /= "d";
  write(deep / "a", 1);
  count();
  EXPECT_FALSE(size_.complete());
  TreeSize nothing{(top_ / "missing").string()};
  EXPECT_TRUE(nothing.step(Ticks::max()));
  EXPECT_FALSE(nothing.complete());
}

TEST_F(TreeSizeTest, StopsInTimeAndGoesOnWhereItWas) {
  for (int number = 0; number < 200; ++number) write(std::to_string(number), 1000);
  const std::uint64_t whole = count();
  int steps = 1;
  while (!size_.step(Ticks{})) ++steps;
  EXPECT_GT(steps, 3);
  EXPECT_EQ(size_.total(), whole);
}

}  // namespace
}  // namespace cordon::node
