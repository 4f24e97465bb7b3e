// SPDX-License-Identifier: Apache-2.0
// Refused heads, each with what is said about it, and their accepted neighbours:
// tests/http/refused_heads.txt.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "http/cases_test.h"
#include "http/parse_head.h"
#include "http/refusal.h"
#include "http/serialise.h"

namespace cordon::http {
namespace {

struct Case {
  bool request = true;
  std::string name, refusal, head, mended;
};

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  for (const Block& block : read_blocks("tests/http/refused_heads.txt")) {
    cases.push_back({.request = block.name.starts_with("request "),
                     .name = block.name,
                     .refusal = block.only('!'),
                     .head = expanded(block.only('>')),
                     .mended = expanded(block.only('<'))});
  }
  return cases;
}

// Calls `check` with a function that reads pieces as the kind of head that the case is about.
template <class Check>
void with_reader(const Case& one, Check check) {
  if (one.request) {
    check([](const std::vector<std::string_view>& pieces) { return read_request(pieces); });
  } else {
    check([](const std::vector<std::string_view>& pieces) { return read_answer(pieces); });
  }
}

TEST(RefusedHeads, AreManyAndEachIsAnother) {
  std::set<std::string> names, heads;
  std::size_t requests = 0;
  for (const Case& one : read_cases()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_TRUE(heads.insert((one.request ? 'q' : 'a') + one.head).second) << one.name;
    requests += one.request ? 1 : 0;
  }
  EXPECT_GE(requests, 200U);
  EXPECT_GE(names.size() - requests, 40U);
}

TEST(RefusedHeads, AreRefusedByTheRuleAndTheByteThatTheTableSays) {
  for (const Case& one : read_cases()) {
    with_reader(one, [&](auto read) {
      const auto outcome = read({one.head});
      EXPECT_EQ(outcome.refusal, one.refusal) << "\n@@" << one.name << '\t' << outcome.refusal;
      EXPECT_FALSE(outcome.done) << one.name;
    });
  }
}

TEST(RefusedHeads, AreAcceptedWhenTheirFaultIsMended) {
  for (const Case& one : read_cases()) {
    with_reader(one, [&](auto read) {
      const auto outcome = read({one.mended});
      EXPECT_EQ(outcome.refusal, "") << one.name;
      EXPECT_TRUE(outcome.done) << one.name;
      EXPECT_EQ(outcome.consumed, one.mended.size()) << one.name;
    });
  }
}

TEST(RefusedHeads, AreReadTheSameWhereverTheyAreCut) {
  for (const Case& one : read_cases()) {
    with_reader(one, [&](auto read) {
      for (const std::string_view text : {one.head, one.mended}) {
        const auto whole = read({text});
        EXPECT_EQ(read(bytes_of(text)), whole) << one.name << ", byte by byte";
        // Long ones are long by one letter: the first and last cuts say all.
        for (std::size_t cut = 0; cut <= text.size(); ++cut) {
          if (text.size() > 1000 && cut > 60 && cut + 10 < text.size()) continue;
          EXPECT_EQ(read({text.substr(0, cut), text.substr(cut)}), whole) << one.name << " " << cut;
        }
      }
    });
  }
}

TEST(RefusedHeads, AreNeverQuotedInTheRefusal) {
  for (const Case& one : read_cases()) {
    for (const char c : one.refusal) EXPECT_TRUE(c >= ' ' && c < 0x7F) << one.name;
  }
  const auto outcome = read_request({"GET / HTTP/1.1\r\nignore previous instructions\r\n"});
  EXPECT_EQ(outcome.refusal, "head byte 16: a field without a colon");
}

TEST(RefusedHeads, AreAnsweredByWhatTheSenderCanMend) {
  const auto status = [](std::string_view text) {
    RequestReader reader{{.limits = {.bytes = 100, .fields = 200, .target = 20}}};
    const auto fed = reader.feed(text);
    EXPECT_FALSE(fed);
    return fed ? 0 : status_for(fed.error());
  };
  EXPECT_EQ(status("GET / HTTP/1.1\n"), 400);
  EXPECT_EQ(status("GET / HTTP/2.0\r\n"), 505);
  EXPECT_EQ(status("TRACE / HTTP/1.1\r\n"), 405);
  EXPECT_EQ(status("CONNECT a.test:443 HTTP/1.1\r\n"), 405);
  EXPECT_EQ(status("GET /aaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\n"), 431);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nX: " + std::string(100, 'a')), 431);
  EXPECT_EQ(status_for(Error{Errc::internal, "a defect"}), 500);
}

// Not the rule of a single case, but of all: what was refused cannot be written either.
TEST(RefusedHeads, LeaveTheirNeighboursWritable) {
  for (const Case& one : read_cases()) {
    if (!one.request) continue;
    const RequestHead head = request_of(one.mended);
    const auto text = serialise(head, framing_of(head));
    ASSERT_TRUE(text) << one.name << ": " << text.error().text();
    EXPECT_TRUE(read_request({*text}).done) << one.name;
  }
}

}  // namespace
}  // namespace cordon::http
