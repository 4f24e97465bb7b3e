// SPDX-License-Identifier: Apache-2.0
#include "cli/output_lines.h"

#include <gtest/gtest.h>

#include "wire/answers.h"

namespace cordon::cli {
namespace {

OutputPiece piece(std::uint64_t offset, std::string bytes) {
  return {.is_error = false, .offset = offset, .bytes = std::move(bytes)};
}

TEST(OutputLine, IsReadAsANodeWritesIt) {
  for (const std::string bytes : {"text\n", "\xff\x00\x01", "", "\"\\\x1b"}) {
    for (const bool is_error : {false, true}) {
      std::string line = wire::output_line(is_error, 12, bytes);
      line.pop_back();
      const auto read = read_output_line(line);
      ASSERT_TRUE(read) << line;
      const OutputPiece wanted{.is_error = is_error, .offset = 12, .bytes = bytes};
      EXPECT_EQ(std::get<OutputPiece>(*read), wanted);
      EXPECT_EQ(output_line_of(wanted), line);
    }
  }
  const auto end = read_output_line(wire::exit_line(
      {.number = 3, .command = "sh", .pid = 7, .exit = wire::ExitAnswer{.value = 4}}));
  ASSERT_TRUE(end);
  EXPECT_TRUE(std::holds_alternative<OutputEnd>(*end));
}

TEST(OutputLine, IsRefusedWhereItIsNone) {
  for (const char* line :
       {"", "{", "[]", "{}", R"({"event":"stdout"})", R"({"event":"other","offset":1,"data":"x"})",
        R"({"event":"stdout","offset":-1,"data":"x"})",
        R"({"event":"stdout","offset":1,"data_base64":"!"})", R"({"event":"exit"})"}) {
    EXPECT_FALSE(read_output_line(line)) << line;
  }
}

TEST(OutputCursor, TellsNothingTwiceAndMissesNothing) {
  OutputCursor cursor{{0, 0}};
  OutputPiece first = piece(0, "abc");
  EXPECT_EQ(cursor.take(first), 0U);
  EXPECT_EQ(first.bytes, "abc");
  OutputPiece again = piece(0, "abcde");
  EXPECT_EQ(cursor.take(again), 0U);
  EXPECT_EQ(again, piece(3, "de"));
  OutputPiece old = piece(1, "bc");
  EXPECT_EQ(cursor.take(old), 0U);
  EXPECT_EQ(old.bytes, "");
  EXPECT_EQ(cursor.at()[0], 5U);
  EXPECT_EQ(cursor.at()[1], 0U);
}

TEST(OutputCursor, CountsWhatWillNeverCome) {
  OutputCursor cursor{{2, std::nullopt}};
  OutputPiece late = piece(10, "x");
  EXPECT_EQ(cursor.take(late), 8U);
  EXPECT_EQ(late, piece(10, "x"));
  EXPECT_EQ(cursor.missing(11, 100), 0U);  // of a stream of which nothing is known, nothing is
  EXPECT_EQ(cursor.missing(14, 0), 3U);
  OutputPiece error{.is_error = true, .offset = 50, .bytes = "y"};
  EXPECT_EQ(cursor.take(error), 0U);
  EXPECT_EQ(cursor.missing(11, 52), 1U);
}

}  // namespace
}  // namespace cordon::cli
