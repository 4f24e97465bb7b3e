// SPDX-License-Identifier: Apache-2.0
// Whole connections that try to slip a request past the proxy: tests/http/smuggling.txt.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "http/cases_test.h"
#include "http/forward_test.h"
#include "http/lenient_reader_test.h"

namespace cordon::http {
namespace {

std::string visible(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\r') {
      out += "\\r";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

// As the file has it: a line for each message that is passed on, then why no more is.
std::string told(const Forwarded& forwarded) {
  std::string text;
  for (const auto& message : forwarded.messages)
    text += fmt::format("= {} [{}]\n", message.first_line, visible(message.body));
  if (!forwarded.refusal.empty()) text += fmt::format("! {}\n", forwarded.refusal);
  return text;
}

std::string expected(const Block& block) {
  std::string text;
  for (const auto& [mark, line] : block.lines) {
    if (mark != '>') text += fmt::format("{} {}\n", mark, line);
  }
  return text;
}

TEST(Smuggling, PassesOnOnlyTheRequestsThatTheFileSays) {
  const auto blocks = read_blocks("tests/http/smuggling.txt");
  EXPECT_GE(blocks.size(), 50U);
  for (const Block& block : blocks) {
    const auto found = told(forward(expanded(block.only('>'))));
    EXPECT_EQ(found, expected(block)) << "\n@@" << block.name << '\n' << found << "@@";
  }
}

TEST(Smuggling, LeavesNoServerAnotherReadingThanOurs) {
  for (const Block& block : read_blocks("tests/http/smuggling.txt")) {
    const Forwarded forwarded = forward(expanded(block.only('>')));
    for (const auto believes : {Believes::length, Believes::coding})
      EXPECT_EQ(read_leniently(forwarded.bytes, believes), forwarded.messages) << block.name;
  }
}

// The model is worth something: it is deceived by what we refuse.
TEST(Smuggling, WouldDeceiveTheSameServersWithoutUs) {
  std::size_t deceived = 0;
  for (const Block& block : read_blocks("tests/http/smuggling.txt")) {
    const std::string stream = expanded(block.only('>'));
    const bool alike =
        read_leniently(stream, Believes::length) == read_leniently(stream, Believes::coding) &&
        read_leniently(stream, Believes::length) == forward(stream).messages;
    deceived += alike ? 0 : 1;
  }
  EXPECT_GE(deceived, 40U);
}

}  // namespace
}  // namespace cordon::http
