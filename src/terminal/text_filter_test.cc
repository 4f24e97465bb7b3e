// SPDX-License-Identifier: Apache-2.0
#include "terminal/text_filter.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "terminal/corpus_test_support.h"

namespace cordon::terminal {
namespace {

std::string shown(const std::vector<std::string_view>& chunks) {
  TextFilter filter;
  std::string out;
  for (const auto chunk : chunks) filter.feed(chunk, out);
  filter.finish(out);
  return out;
}

TEST(TextFilter, ShowsEachSpecimenAsTheCorpusSays) {
  const auto specimens = corpus();
  ASSERT_GE(specimens.size(), 200U);
  for (const auto& specimen : specimens)
    EXPECT_EQ(made_visible(shown({specimen.input})), made_visible(specimen.shown)) << specimen.line;
}

TEST(TextFilter, ShowsTheSameWhereverTheStreamIsCut) {
  for (const auto& specimen : corpus()) {
    const std::string whole = shown({specimen.input});
    for (const auto& cut : cut_everywhere(specimen.input, shown)) EXPECT_EQ(cut, whole);
  }
}

TEST(TextFilter, ShowsAtTheEndWhatItHeld) {
  EXPECT_EQ(shown({"a\x1b"}), "a\\x1b");
  EXPECT_EQ(shown({"a\x1b[3"}), "a\\x1b[3");
  EXPECT_EQ(shown({"caf\xC3"}), "caf\\xc3");
  EXPECT_EQ(shown({"a\r"}), "a\\x0d");
}

TEST(TextFilter, EndsColoursThatWereLeftOn) {
  EXPECT_EQ(shown({"\x1b[31mred"}), "\x1b[31mred\x1b[0m");
  EXPECT_EQ(shown({"\x1b[31mred\x1b[m"}), "\x1b[31mred\x1b[m");
}

TEST(TextFilter, HoldsNoMoreThanASequenceMayBeLong) {
  const std::string endless = "\x1b[" + std::string(100'000, '1');
  TextFilter filter;
  std::string out;
  filter.feed(endless, out);
  EXPECT_GE(out.size(), endless.size() - 200);
}

TEST(Printable, KeepsANameOnItsLineAndWithoutColour) {
  EXPECT_EQ(printable("b\xC3\xBCrger.txt"), "b\xC3\xBCrger.txt");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\x0ab\\x09c\\x0dd");
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable("a\xE2\x80\xAEtxt.exe"), "a<U+202E>txt.exe");
  EXPECT_EQ(printable("\xC3\nx\xFF"), "\\xc3\\x0ax\\xff");
  EXPECT_EQ(printable(std::string_view{"a\0b", 3}), "a\\x00b");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, HasNoControlForAnyOneOrTwoBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const char bytes[] = {static_cast<char>(first), static_cast<char>(second)};
      const std::string text = printable({bytes, 2});
      for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        ASSERT_TRUE(byte >= 0x20 && byte != 0x7F) << first << ' ' << second;
      }
      if (text.size() == 2 && static_cast<unsigned char>(text[0]) == 0xC2)
        ASSERT_GE(static_cast<unsigned char>(text[1]), 0xA0);
    }
  }
}

}  // namespace
}  // namespace cordon::terminal
