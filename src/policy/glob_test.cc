// SPDX-License-Identifier: Apache-2.0
#include "policy/glob.h"

#include <random>

#include <gtest/gtest.h>

#include "policy/naive_glob_test.h"

namespace cordon::policy {
namespace {

class GlobDice {
 public:
  std::size_t below(std::size_t count) { return generator_() % count; }
  template <std::size_t N>
  std::string_view one_of(const std::string_view (&all)[N]) {
    return all[below(N)];
  }

 private:
  std::mt19937_64 generator_{20260101};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same every time
};

std::string random_name(GlobDice& dice) {
  constexpr std::string_view kLetters[] = {"a", "a", "b", "b", "c", "*", ".", "\\"};
  std::string name;
  for (std::size_t i = 0, n = 1 + dice.below(3); i < n; ++i) name += dice.one_of(kLetters);
  return name == "." || name == ".." ? "a" : name;
}

std::string random_glob(GlobDice& dice) {
  constexpr std::string_view kPieces[] = {"a",   "b",   "c",    "*",    "*",  "?",
                                          "\\a", "\\*", "\\\\", "\\\\", "a*", "*b"};
  std::string glob;
  for (std::size_t i = 0, n = 1 + dice.below(3); i < n; ++i) glob += dice.one_of(kPieces);
  return glob;
}

std::string random_component(GlobDice& dice) {
  switch (dice.below(6)) {
    case 0:
      return "**";
    case 1:
      return "*" + std::string{"abc"[dice.below(3)]};
    case 2:
      return random_glob(dice);
    default:
      return std::string{"abc"[dice.below(3)]};
  }
}

std::string random_pattern(GlobDice& dice) {
  for (;;) {
    std::string pattern = dice.below(8) == 0 ? "/" : "";
    for (std::size_t i = 0, n = 1 + dice.below(4); i < n; ++i)
      pattern += (i > 0 ? "/" : "") + random_component(dice);
    if (check_path_pattern(pattern)) return pattern;
  }
}

std::string random_path(GlobDice& dice) {
  std::string path;
  for (std::size_t i = 0, n = 1 + dice.below(5); i < n; ++i) {
    if (i > 0) path += '/';
    path += dice.below(4) == 0 ? random_name(dice) : std::string{"abc"[dice.below(3)]};
  }
  return path;
}

std::string_view without_slash(std::string_view pattern) {
  return pattern.starts_with('/') ? pattern.substr(1) : pattern;
}

TEST(Glob, MatchesAsThePlainestDefinitionDoes) {
  GlobDice dice;
  int matched = 0;
  constexpr int kPairs = 200'000;
  for (int i = 0; i < kPairs; ++i) {
    const std::string glob = random_glob(dice);
    const std::string name = random_name(dice);
    const bool expected = naive::matches(glob, name);
    matched += expected ? 1 : 0;
    ASSERT_EQ(glob_matches(glob, name), expected) << glob << " against " << name;
  }
  EXPECT_GT(matched, kPairs / 20);
}

TEST(Glob, TakesNoExponentialTime) {
  std::string glob;
  for (int i = 0; i < 100; ++i) glob += "*a";
  EXPECT_FALSE(glob_matches(glob + "b", std::string(4000, 'a')));
}

TEST(Glob, CountsCharactersThatStandForThemselves) {
  EXPECT_EQ(literal_characters("get_*"), 4U);
  EXPECT_EQ(literal_characters("\\*\\\\x?"), 3U);
  EXPECT_EQ(literal_characters("*"), 0U);
  EXPECT_TRUE(is_literal("abc"));
  EXPECT_FALSE(is_literal("a\\c"));
}

TEST(PatternSet, CoversAsThePlainestDefinitionDoes) {
  GlobDice dice;
  long pairs = 0;
  long covered = 0;
  for (int i = 0; i < 3'000; ++i) {
    std::vector<std::string> patterns;
    std::vector<naive::Parts> parts;
    PatternSet set;
    for (std::uint32_t n = 0, count = 1 + static_cast<std::uint32_t>(dice.below(6)); n < count;
         ++n) {
      patterns.push_back(random_pattern(dice));
      set.add(patterns.back(), n);
    }
    parts.reserve(patterns.size());
    for (const std::string& pattern : patterns)
      parts.push_back(naive::components(without_slash(pattern)));
    for (int j = 0; j < 25; ++j) {
      const std::string path = random_path(dice);
      const auto path_parts = naive::components(path);
      PatternSet::Match expected;
      for (std::uint32_t n = static_cast<std::uint32_t>(patterns.size()); n-- > 0; ++pairs) {
        if (!naive::covers(parts[n], 0, path_parts, 0)) continue;
        expected = {PatternSet::Outcome::yes, n};
        ++covered;
      }
      const PatternSet::Match found = set.match(path);
      ASSERT_EQ(found.outcome, expected.outcome) << path << " against " << patterns[expected.rule];
      ASSERT_EQ(found.rule, expected.rule) << path << " against " << patterns[expected.rule];
    }
  }
  EXPECT_GE(pairs, 200'000);
  EXPECT_GT(covered, pairs / 20);
}

// All 512 match the first component, so that the set has to remember them all.
PatternSet crowded_set() {
  PatternSet set;
  for (std::uint32_t i = 0; i < 512; ++i) {
    std::string pattern;
    for (unsigned bit = 0; bit < 9; ++bit) pattern += (i >> bit & 1U) != 0 ? '?' : 'a';
    set.add(pattern + "/end" + std::to_string(i), i);
  }
  return set;
}

TEST(PatternSet, SaysSoWhenThereIsNoRoomForAllPartialMatches) {
  const PatternSet set = crowded_set();
  EXPECT_EQ(set.match("aaaaaaaaa/other").outcome, PatternSet::Outcome::overflow);
  // Never `no` for what is covered, wherever its pattern stands.
  for (int i = 0; i < 512; ++i) {
    EXPECT_NE(set.match("aaaaaaaaa/end" + std::to_string(i)).outcome, PatternSet::Outcome::no) << i;
  }
  EXPECT_EQ(set.match("bbbbbbbbb/other").outcome, PatternSet::Outcome::no);
}

TEST(PatternSet, MatchesNothingWhenEmptyAndNeverTheRootItself) {
  EXPECT_EQ(PatternSet{}.match("a").outcome, PatternSet::Outcome::no);
  PatternSet set;
  set.add("**/a", 0);
  EXPECT_EQ(set.match("").outcome, PatternSet::Outcome::no);
}

TEST(PathPattern, OfContentsLeavesTheDirectoryItself) {
  PatternSet set;
  set.add("a/**", 7);
  EXPECT_EQ(set.match("a").outcome, PatternSet::Outcome::no);
  EXPECT_EQ(set.match("a/b").rule, 7U);
  EXPECT_EQ(set.match("a/b/c").outcome, PatternSet::Outcome::yes);
}

TEST(PathPattern, IsRefusedWhereItWouldMatchNothingOrEverything) {
  for (const std::string_view bad :
       {"",    "a//b",         "/",   "a/",    ".", "a/..", "[a]", "a{b", "a]",  "***",
        "a**", "**/a/**/b/**", "a\\", "a\\/b", "~", "~/x",  "**",  "*",   "?/*", "/**"}) {
    EXPECT_FALSE(check_path_pattern(bad)) << bad;
  }
  for (const std::string_view good :
       {"a", "/a", "**/a", "a/**", "a/*/b", "*.pem", "\\[a\\]", "\\*", "...", ".env", "a\\\\"}) {
    EXPECT_TRUE(check_path_pattern(good)) << good;
  }
}

TEST(NormalPath, HasOneSpelling) {
  for (const std::string& good : std::vector<std::string>{"/", "/a", "/a/b", "/...", "/a b", "/.a",
                                                          "/" + std::string(255, 'a')}) {
    EXPECT_TRUE(is_normal_path(good)) << good;
  }
  std::string deep;
  for (int i = 0; i < 2049; ++i) deep += "/a";
  for (const std::string& bad : std::vector<std::string>{
           "", "a", "//", "/a/", "/a//b", "/.", "/..", "/a/./b", "/a/../b", "/a/..",
           std::string{"/a\0b", 4}, "/" + std::string(256, 'a'), deep}) {
    EXPECT_FALSE(is_normal_path(bad)) << bad;
  }
}

TEST(Below, NeedsAWholeComponent) {
  EXPECT_EQ(below("/a/b", "/a"), "b");
  EXPECT_EQ(below("/a", "/a"), "");
  EXPECT_EQ(below("/a/b/c", "/"), "a/b/c");
  EXPECT_EQ(below("/ab", "/a"), std::nullopt);
  EXPECT_EQ(below("/a", "/a/b"), std::nullopt);
}

}  // namespace
}  // namespace cordon::policy
