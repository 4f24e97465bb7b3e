// SPDX-License-Identifier: Apache-2.0
#include "audit/record.h"

#include <random>

#include <gtest/gtest.h>

#include "audit/log_rig_test.h"
#include "base/bytes.h"

namespace cordon::audit {
namespace {

Record about(AuditEvent event) {
  Digest before{};
  before.fill(std::byte{0xab});
  return {.number = 7,
          .time = kTime,
          .ticks = 42,
          .before = before,
          .subject = kSubject,
          .event = std::move(event),
          .cuts = {}};
}

const std::string kFront = R"({"seq":7,"time_ms":1700000000123,"ticks_us":42,"prev":")"
                           R"(abababababababababababababababababababababababababababababababab",)"
                           R"("tenant":"acme","sandbox":"k7f3",)";

// One of each, with what may be left out and without.
std::vector<AuditEvent> samples() {
  return {
      PolicyAccepted{"d"},
      SandboxStarted{},
      SandboxStarted{Isolation::gvisor,
                     {.mechanisms = {{"landlock", Hold::held, "ABI 7"}, {"io", Hold::absent, ""}},
                      .reported = {"exec", "connect"}}},
      ActRefused{},
      ActRefused{{.code = "CORDON-FS-WRITE",
                  .tried = "write ~/x",
                  .resolved = "/home/u/x",
                  .rule = "a:1",
                  .why = "w",
                  .fix = "f",
                  .action = "a",
                  .retry_helps = true,
                  .count = 3}},
      NetworkUsed{.host = "h", .port = 443},
      NetworkUsed{.host = "h",
                  .port = 443,
                  .address = "203.0.113.1",
                  .method = "GET",
                  .path = "/",
                  .status = 200,
                  .ended = true,
                  .bytes_out = 1,
                  .bytes_in = 2,
                  .count = 9},
      CredentialUsed{"g", "h", "GET", "/", "given"},
      FileMoved{.request = "r", .path = "/p", .bytes = 3, .sha256 = "00", .is_whole = true},
      FileMoved{.key = "k", .is_tree = true, .is_written = true, .path = "/p", .offset = 7},
      FileMoved{.is_written = true},
      FileMoved{.is_tree = true},
      RequestBegun{"r", "DELETE /v1/sandboxes/{id}", "k", "00"},
      RequestBegun{.request = "r"},
      ProgramStarted{7, 1, "/bin/sh", {"sh", "-c", "\x01 \xff"}, "/workspace"},
      ProgramStarted{.pid = 7},
      FileTouched{7, "sh", "renameat2", "/a", "/b"},
      FileTouched{.act = "write", .path = "/a"},
      ConnectTried{7, "curl", "2001:db8::1", 443, "ENETUNREACH"},
      ConnectTried{.address = "unix:@x"},
      SandboxEnded{
          {.ending = Ending::memory, .status = 137, .limit = 5, .peak = 4, .culprit = "x"}},
      LogRecovered{9, "00"},
      RecordsLost{"monitor", 4, "the ring was full"},
      RecordsDropped{100},
      PolicyReleased{7, "00"},
      PolicyReleased{},
  };
}

TEST(Record, HasTheDocumentedSpelling) {
  EXPECT_EQ(encode(about(PolicyAccepted{"d"})),
            kFront + R"("event":"policy_accepted","digest":"d"})");
  EXPECT_EQ(encode(about(samples()[2])),
            kFront + R"("event":"sandbox_started","isolation":"gvisor","mechanisms":[)"
                     R"({"name":"landlock","hold":"held","detail":"ABI 7"},)"
                     R"({"name":"io","hold":"absent"}],"reported":["exec","connect"]})");
  EXPECT_EQ(encode(about(samples()[6])),
            kFront +
                R"("event":"connection_ended","host":"h","port":443,"address":"203.0.113.1",)"
                R"("count":9,"method":"GET","path":"/","status":200,"bytes_out":1,"bytes_in":2})");
  EXPECT_EQ(encode(about(samples()[9])),
            kFront + R"("event":"tree_written","key":"k","request":"","path":"/p","offset":7,)"
                     R"("bytes":0,"sha256":"","whole":false})");
}

TEST(Record, IsReadAsItWasWritten) {
  for (const AuditEvent& event : samples()) {
    const Record record = about(event);
    const std::string line = encode(record);
    const auto read = decode(line);
    ASSERT_TRUE(read) << line;
    EXPECT_EQ(*read, record) << line;
  }
  Record none = about(RecordsDropped{});
  none.subject = {};
  const auto read = decode(encode(none));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, none);
}

// C256: whatever a field holds, it is one line, one record, and nothing more.
TEST(Record, StaysOneLineWhateverAFieldHolds) {
  const std::vector<std::string> hostile{
      "\n",
      "\r\n",
      "\x1b[2J",
      "\",\"event\":\"allow",
      "\\",
      "\\u0041",
      "\xe2\x80\xa8x",
      "\xe2\x80\xae",
      "\xff\xfe",
      "\xc3",
      "\xc2\x85",
      std::string("a\0b", 3),
      "\xef\xbb\xbf",
      "\x7f",
      "\xed\xa0\x80",
      "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
      "}\n{\"seq\":8",
      "\xc0\xafx",
  };
  for (const std::string& text : hostile) {
    const Record record = about(ActRefused{
        {.code = text, .tried = text, .resolved = text, .rule = text, .why = text, .fix = text}});
    const std::string line = encode(record);
    for (const char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
    EXPECT_EQ(line.find("\xe2\x80"), std::string::npos);
    const auto read = decode(line);
    ASSERT_TRUE(read) << line;
    EXPECT_EQ(*read, record) << line;
  }
}

TEST(Record, KeepsTheBeginningOfALongTextAndTheHashOfAll) {
  const std::string text =
      std::string(kLongestText - 1, 'a') + "\xc3\xa4" + std::string(8'000'000, 'b');
  const std::string line = encode(about(PolicyAccepted{text}));
  EXPECT_LT(line.size(), 2 * kLongestText);
  const auto read = decode(line);
  ASSERT_TRUE(read) << line;
  EXPECT_EQ(std::get<PolicyAccepted>(read->event).digest, std::string(kLongestText - 1, 'a'));
  ASSERT_EQ(read->cuts.size(), 1U);
  EXPECT_EQ(read->cuts[0], (Cut{"digest", text.size(), to_hex(sha256({as_bytes(text)}))}));
  EXPECT_EQ(encode(*read), line);

  const std::string bytes(2 * kLongestText, '\x80');
  const auto raw = decode(encode(about(PolicyAccepted{bytes})));
  ASSERT_TRUE(raw);
  EXPECT_EQ(std::get<PolicyAccepted>(raw->event).digest, bytes.substr(0, kLongestText));
}

TEST(Record, IsNotReadInAnotherSpelling) {
  const std::string line = encode(about(samples()[6]));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = line;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  ASSERT_TRUE(decode(line));
  const std::vector<std::string> others{
      line + " ",
      line + "\n",
      line.substr(0, line.size() - 1),
      "",
      "{}",
      with(R"("seq":7)", R"("seq": 7)"),
      with(R"("seq":7)", R"("seq":07)"),
      with(R"("seq":7)", R"("seq":7.0)"),
      with(R"("seq":7)", R"("seq":-7)"),
      with(R"("seq":7)", R"("seq":18446744073709551616)"),
      with(R"("port":443)", R"("port":65979)"),
      with(R"("host":"h")", R"("host":"\u0068")"),
      with(R"("host":"h")", R"("host":"h","host":"h")"),
      with(R"("host":"h","port":443)", R"("port":443,"host":"h")"),
      with(R"("count":9)", R"("count":1)"),
      with(R"("path":"/")", R"("path":"\/")"),
      with(R"("abab)", R"("ABab)"),
      with("connection_ended", "connection_opened"),
      with("connection_ended", "unheard_of"),
      with(R"("bytes_in":2})", R"("bytes_in":2,"cut":[]})"),
  };
  for (const std::string& other : others) EXPECT_FALSE(decode(other)) << other;
}

TEST(Record, WhatIsReadIsTheOneSpelling) {
  std::mt19937 random{1};
  for (const AuditEvent& event : samples()) {
    const std::string line = encode(about(event));
    for (int i = 0; i < 500; ++i) {
      std::string changed = line;
      char& one = changed[random() % changed.size()];
      one = static_cast<char>(static_cast<unsigned char>(one) ^ (1U << (random() % 8)));
      const auto read = decode(changed);
      if (read) EXPECT_EQ(encode(*read), changed);
    }
  }
}

}  // namespace
}  // namespace cordon::audit
