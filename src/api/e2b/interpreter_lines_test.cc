// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/interpreter_lines.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

// Lines as they were understood, whatever pieces they came in: "7 0 text".
std::vector<std::string> read(const std::string& bytes, std::size_t step) {
  InterpreterLines lines;
  std::vector<std::string> whole;
  std::string open;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    lines.push(std::string_view{bytes}.substr(at, step));
    while (const auto piece = lines.next()) {
      if (open.empty()) open = fmt::format("{} {} ", piece->number, static_cast<int>(piece->kind));
      open += piece->text;
      if (piece->ends_the_line) whole.push_back(std::exchange(open, {}));
    }
  }
  return whole;
}

void expect_read(const std::string& bytes, const std::vector<std::string>& expected) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{5}, bytes.size()}) {
    EXPECT_EQ(read(bytes, step), expected) << step;
  }
}

TEST(InterpreterLines, AreReadInPiecesOfAnyLength) {
  expect_read("7 event {\"type\":\"stdout\"}\n7 done {}\n8 failed 404 there is none\n",
              {"7 0 {\"type\":\"stdout\"}", "7 1 {}", "8 2 404 there is none"});
}

TEST(InterpreterLines, MayHaveNoText) { expect_read("1 event \n2 done \n", {"1 0 ", "2 1 "}); }

TEST(InterpreterLines, OfNobodyArePassedOver) {
  expect_read(
      "0 ready {}\nnonsense\n\n  \n-1 event a\n1x event a\n4294967296 event a\n event a\n"
      "1  event a\n1 eventful a\n2 event b\n",
      {"2 0 b"});
  const std::string long_word(1000, 'x');
  expect_read(long_word + "\n" + long_word + " event a\n3 " + long_word + " a\n4 event c\n",
              {"4 0 c"});
  expect_read(std::string{"1 ev\0nt a\n5 event d\n", 20}, {"5 0 d"});
}

}  // namespace
}  // namespace cordon::api::e2b
