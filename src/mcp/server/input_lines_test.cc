// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/input_lines.h"

#include <gtest/gtest.h>

namespace cordon::mcp::server {
namespace {

TEST(InputLines, GivesLinesHoweverTheirBytesCome) {
  InputLines lines{100};
  std::string all;
  for (const char byte : std::string_view{"a\xC3\xA4\r\n\nb\n"}) {
    lines.feed({&byte, 1});
    while (const auto line = lines.next()) all += line->text + "|";
  }
  EXPECT_EQ(all, "a\xC3\xA4|b|");
}

TEST(InputLines, PassesOverALineThatIsTooLongAndGoesOn) {
  InputLines lines{10};
  std::size_t told = 0;
  for (int at = 0; at < 1000; ++at) {
    lines.feed("0123456789");
    while (const auto line = lines.next()) told += line->is_too_long ? 1 : 100;
  }
  EXPECT_EQ(told, 1U);
  lines.feed("rest\nnext\n");
  const auto line = lines.next();
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line.value_or(InputLines::Line{}).text, "next");
  EXPECT_FALSE(lines.next().has_value());
}

TEST(InputLines, MeasuresALineThatCameWhole) {
  InputLines lines{4};
  lines.feed("12345\n1234\n");
  EXPECT_TRUE(lines.next().value_or(InputLines::Line{}).is_too_long);
  EXPECT_EQ(lines.next().value_or(InputLines::Line{}).text, "1234");
}

}  // namespace
}  // namespace cordon::mcp::server
