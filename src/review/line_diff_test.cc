// SPDX-License-Identifier: Apache-2.0
#include "review/line_diff.h"

#include <ctime>
#include <random>

#include <gtest/gtest.h>

namespace cordon::review {
namespace {

// Each side again, from the steps.
std::string side(const std::vector<LineStep>& steps, LineStep::Kind without) {
  std::string text;
  for (const LineStep& step : steps) {
    if (step.kind != without) text += step.line;
  }
  return text;
}

// The least number of changed lines, by the textbook's table.
std::size_t least_changes(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = a[i - 1] == b[j - 1] ? diagonal : std::min(above, row[j - 1]) + 1;
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string as_lines(const std::string& letters) {
  std::string text;
  for (const char letter : letters) text += std::string{letter} + "\n";
  return text;
}

TEST(LineDiff, IsATrueAndShortestWayBetweenRandomTexts) {
  std::mt19937 random{7};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same texts in each run
  for (int round = 0; round < 2000; ++round) {
    std::string a(random() % 12, ' ');
    std::string b(random() % 12, ' ');
    for (char& letter : a) letter = static_cast<char>('a' + random() % 3);
    for (char& letter : b) letter = static_cast<char>('a' + random() % 3);
    const std::string before = as_lines(a);
    const std::string after = as_lines(b);
    const auto steps = diff_lines(before, after);
    ASSERT_EQ(side(steps, LineStep::Kind::add), before);
    ASSERT_EQ(side(steps, LineStep::Kind::remove), after);
    const LineCount count = count_changes(steps);
    ASSERT_EQ(count.added + count.removed, least_changes(a, b)) << a << " " << b;
  }
}

TEST(LineDiff, ALargeHostileTextIsStillDiffedInTime) {
  std::string before;
  std::string after;
  for (int i = 0; i < 200'000; ++i) {
    before += "a" + std::to_string(i % 1000) + "\n";
    after += "b" + std::to_string(i % 1000) + "\n";
  }
  const std::clock_t begin = std::clock();  // of the processor: a busy machine is no slow diff
  const LineCount count = count_changes(diff_lines(before, after));
  EXPECT_EQ(count, (LineCount{.added = 200'000, .removed = 200'000}));
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 20);
}

TEST(LineDiff, PrintsHunksWithContext) {
  const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  const std::string after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\nten";
  EXPECT_EQ(unified_hunks(diff_lines(before, after)),
            "@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+ten\n"
            "\\ No newline at end of file\n");
  EXPECT_EQ(unified_hunks(diff_lines("", "a\x1b\n")), "@@ -0,0 +1,1 @@\n+a\\x1b\n");
  EXPECT_EQ(unified_hunks(diff_lines("a\n", "a\n")), "");
}

}  // namespace
}  // namespace cordon::review
