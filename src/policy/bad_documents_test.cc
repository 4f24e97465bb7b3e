// SPDX-License-Identifier: Apache-2.0
// Refused documents, each with every problem that is told about it: tests/policy/bad_documents.txt.
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policy/parse.h"
#include "policy/policy.h"

namespace cordon::policy {
namespace {

struct BadDocument {
  Syntax syntax = Syntax::toml;
  Origin origin = Origin::user;
  std::string name;
  std::vector<std::string> expected;  // "3:1: message"
  std::string document;
  std::string mended;  // empty: the block has none
};

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    bytes += static_cast<char>(std::stoi(std::string{digits.substr(0, 2)}, nullptr, 16));
  }
  return bytes;
}

// <<3*ab>> is "ababab", <<0x1B>> that byte.
std::string expanded(std::string_view text) {
  std::string out;
  for (;;) {
    const auto open = text.find("<<");
    const auto close = open == std::string_view::npos ? open : text.find(">>", open);
    out += text.substr(0, open);
    if (close == std::string_view::npos) return out;
    const std::string_view inside = text.substr(open + 2, close - open - 2);
    text.remove_prefix(close + 2);
    if (inside.starts_with("0x")) {
      out += from_hex(inside.substr(2));
      continue;
    }
    const auto star = inside.find('*');
    const int count = std::stoi(std::string{inside.substr(0, star)});
    for (int i = 0; i < count; ++i) out += inside.substr(star + 1);
  }
}

// "=== toml [request] a name"
BadDocument case_of(std::string_view head) {
  BadDocument read;
  head.remove_prefix(4);
  read.syntax = head.starts_with("json ") ? Syntax::json : Syntax::toml;
  head.remove_prefix(5);
  if (head.starts_with('[')) {
    const auto end = head.find("] ");
    const auto origin = origin_from(head.substr(1, end - 1));
    EXPECT_TRUE(origin) << head;
    read.origin = origin.value_or(Origin::user);
    head.remove_prefix(end + 2);
  }
  read.name = head;
  return read;
}

std::vector<BadDocument> read_cases() {
  std::ifstream file{CORDON_SOURCE_DIR "/tests/policy/bad_documents.txt"};
  std::vector<BadDocument> cases;
  int part = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back(case_of(line));
      part = 0;
    } else if (cases.empty()) {
      EXPECT_TRUE(line.starts_with('#')) << line;
    } else if (line == "---") {
      ++part;
    } else if (part == 0) {
      EXPECT_TRUE(line.starts_with("expect ")) << cases.back().name << ": " << line;
      cases.back().expected.push_back(line.substr(7));
    } else {
      std::string& text = part == 1 ? cases.back().document : cases.back().mended;
      text += line + '\n';
    }
  }
  for (BadDocument& one : cases) {
    one.document = expanded(one.document);
    one.mended = expanded(one.mended);
  }
  return cases;
}

Policy everything() {
  auto document = parse("", "ceiling", Syntax::toml);
  auto policy = check(*std::move(document), Origin::site, {});
  return *std::move(policy);
}

// Every problem of the document, as it would be told; none: it is accepted.
std::vector<std::string> problems_of(const BadDocument& one, const std::string& text) {
  Problems problems{"f"};
  if (auto document = parse(text, "f", one.syntax, &problems)) {
    const auto policy = one.origin == Origin::workspace
                            ? narrow(everything(), *std::move(document), {}, &problems)
                            : check(*std::move(document), one.origin, {}, &problems);
    EXPECT_EQ(policy.has_value(), problems.empty()) << one.name;
  } else {
    EXPECT_FALSE(problems.empty()) << one.name;
  }
  std::vector<std::string> all;
  for (const Problem& problem : problems.all()) {
    EXPECT_EQ(problem.file, "f");
    all.push_back(
        fmt::format("{}:{}: {}", problem.mark.line, problem.mark.column, problem.message));
  }
  return all;
}

std::string lines_of(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text += "expect " + problem + '\n';
  return text;
}

TEST(BadDocuments, AreRefusedWithEveryProblemAndItsPlace) {
  for (const BadDocument& one : read_cases()) {
    const auto found = problems_of(one, one.document);
    EXPECT_FALSE(found.empty()) << one.name << " is accepted";
    if (found == one.expected) continue;
    ADD_FAILURE() << "case: " << one.name << "\nfound:\n" << lines_of(found) << "end";
  }
}

TEST(BadDocuments, AreAcceptedOnceTheFaultIsMended) {
  std::size_t mended = 0;
  const auto cases = read_cases();
  for (const BadDocument& one : cases) {
    if (one.mended.empty()) continue;
    ++mended;
    EXPECT_EQ(lines_of(problems_of(one, one.mended)), "") << one.name;
  }
  EXPECT_GE(mended, cases.size() / 3);
}

TEST(BadDocuments, AreManyAndEachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const BadDocument& one : read_cases())
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
  EXPECT_GE(names.size(), 150U);
}

// A message that shows control characters of its document could repaint the terminal it lands on.
TEST(BadDocuments, AreToldInPrintableTextOfBoundedLength) {
  for (const BadDocument& one : read_cases()) {
    const auto found = problems_of(one, one.document);
    EXPECT_LE(found.size(), 100U) << one.name;
    for (const std::string& problem : found) {
      EXPECT_LE(problem.size(), 600U) << one.name;
      for (const char c : problem) EXPECT_TRUE(c < 0 || c >= ' ') << one.name;
    }
  }
}

}  // namespace
}  // namespace cordon::policy
