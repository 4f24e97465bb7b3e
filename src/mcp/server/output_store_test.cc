// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/output_store.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "mcp/server/text_cap.h"

namespace cordon::mcp::server {
namespace {

TEST(OutputStore, GivesPartsUntilTheEnd) {
  OutputStore store{1000};
  const std::string name = store.add("0123456789");
  const auto first = store.read(name, 0, 4, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->text, "0123");
  EXPECT_EQ(first->next, 4U);
  const auto last = store.read(name, 4, 100, {});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->text, "456789");
  EXPECT_FALSE(last->next.has_value());
  EXPECT_EQ(last->size, 10U);
  EXPECT_TRUE(store.read(name, 99, 1, {}));
}

TEST(OutputStore, DropsTheOldestForRoom) {
  OutputStore store{20};
  const std::string one = store.add(std::string(10, 'a'));
  const std::string two = store.add(std::string(10, 'b'));
  const std::string three = store.add(std::string(10, 'c'));
  EXPECT_FALSE(store.read(one, 0, 1, {}));
  EXPECT_TRUE(store.read(two, 0, 1, {}));
  EXPECT_TRUE(store.read(three, 0, 1, {}));
  EXPECT_FALSE(store.read("o99", 0, 1, {}));
}

TEST(OutputStore, FindsLines) {
  OutputStore store{1000};
  const std::string name = store.add("one error\ntwo\nthree error\n");
  const auto all = store.read(name, 0, 100, "error");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->text, "one error\nthree error\n");
  EXPECT_FALSE(all->next.has_value());
  const auto first = store.read(name, 0, 12, "error");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->text, "one error\n");
  ASSERT_TRUE(first->next.has_value());
  EXPECT_EQ(store.read(name, first->next.value_or(0), 100, "error")->text, "three error\n");
}

TEST(TextCap, KeepsHeadAndTailAndSaysHowMuchIsBetween) {
  const std::string text(1000, 'x');
  const Cut cut = head_and_tail(text, 100, "read_output o1");
  EXPECT_TRUE(cut.is_cut);
  EXPECT_NE(cut.text.find("900 more bytes: read_output o1"), std::string::npos) << cut.text;
  EXPECT_FALSE(head_and_tail("short", 100, {}).is_cut);
}

TEST(TextCap, NeverCutsACharacter) {
  std::string text;
  for (int at = 0; at < 100; ++at) text += "\xE2\x82\xAC";
  for (std::size_t most = 1; most < 40; ++most) {
    EXPECT_TRUE(is_utf8(head_and_tail(text, most, {}).text)) << most;
    EXPECT_TRUE(is_utf8(whole_characters(text, most, 7))) << most;
  }
}

TEST(TextCap, MakesUtf8OfAnyBytes) {
  EXPECT_EQ(as_utf8("a\xFF"
                    "b\xC3"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(as_utf8("\xC3\xA4"), "\xC3\xA4");
}

TEST(TextCap, KeepsTheBeginningAndTheEndOfAStreamWithoutEnd) {
  KeptStream stream{20};
  for (int at = 0; at < 10'000; ++at)
    stream.add(at == 0 ? "first....." : at == 9'999 ? "last......" : "0123456789");
  EXPECT_EQ(stream.size(), 100'000U);
  const std::string text = stream.text();
  EXPECT_TRUE(text.starts_with("first.....")) << text;
  EXPECT_TRUE(text.ends_with("last......")) << text;
  EXPECT_NE(text.find("99980 bytes are not kept"), std::string::npos) << text;
  KeptStream small{20};
  small.add("all");
  EXPECT_EQ(small.text(), "all");
}

TEST(TextCap, KnowsThePlaceOfWhatItKeeps) {
  RecentStream stream{4};
  for (int at = 0; at < 9; ++at) stream.add("ab");
  EXPECT_EQ(stream.end(), 18U);
  EXPECT_EQ(stream.from(17), "b");
  EXPECT_EQ(stream.from(0).size(), stream.end() - stream.begin());
  EXPECT_LE(stream.from(0).size(), 8U);
  EXPECT_EQ(stream.from(99), "");
}

}  // namespace
}  // namespace cordon::mcp::server
