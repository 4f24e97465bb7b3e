// SPDX-License-Identifier: Apache-2.0
#include "fleet/summary.h"

#include <gtest/gtest.h>

#include "fleet/node_id.h"

namespace cordon::fleet {
namespace {

Summary whole() {
  Summary summary{.address = "[2001:db8::7]:7070",
                  .gauge = {.at = {3, 17}, .slots = 1000, .free = 400},
                  .is_draining = true};
  summary.gauge.warm.add("debian-12");
  return summary;
}

TEST(NodeId, HasOneKey) {
  const NodeId id{.cell = 7, .node = 42};
  EXPECT_EQ(key_of(id), "/cordon/cells/7/nodes/42");
  EXPECT_EQ(node_of(key_of(id)), id);
  EXPECT_TRUE(key_of(id).starts_with(nodes_of(7)));
  EXPECT_EQ(to_string(id), "7.42");
  for (const std::string_view key :
       {"/cordon/cells/07/nodes/42", "/cordon/cells/7/nodes/", "/cordon/cells/7/nodes/42/", "",
        "/cordon/cells/7/nodes/-1", "/cordon/cells/65536/nodes/1", "/cordon/cells/7/nodes/4 2",
        "/cordon/cells/7/nodes/4294967296", "/other/cells/7/nodes/42"}) {
    EXPECT_FALSE(node_of(key)) << key;
  }
}

TEST(Summary, IsTheSameAfterItWasWrittenDown) {
  const auto read = decode_summary(encode(whole()));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, whole());
  EXPECT_LT(encode(whole()).size(), 300U);
}

TEST(Summary, TellsOfThePolicyWhereThereIsSomethingToTell) {
  Summary summary = whole();
  EXPECT_EQ(encode(summary).find("release"), std::string::npos);
  summary.release = 4;
  summary.refused = 5;
  summary.why = plain_words("release 5:2:1: \x1b[31m unknown\n");
  summary.turned_away = 2;
  EXPECT_EQ(summary.why, "release 5:2:1: ?[31m unknown?");
  const auto read = decode_summary(encode(summary));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, summary);
  EXPECT_TRUE(differs(whole(), summary));
  Summary more = summary;
  more.turned_away = 3;
  EXPECT_FALSE(differs(summary, more)) << "the first one is news";
  // A line of another kind, and one that is longer than anybody writes.
  for (const std::string& why : {std::string{"a\nb"}, std::string(500, 'x')}) {
    summary.why = why;
    EXPECT_FALSE(decode_summary(encode(summary)));
  }
}

TEST(Summary, SaysOfANodeThatWasExpelledNothingElse) {
  const auto read = decode_summary(R"({"format":1,"expelled":true})");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(read->is_expelled);
  EXPECT_EQ(*decode_summary(encode(*read)), *read);
  EXPECT_FALSE(decode_summary(R"({"format":1,"expelled":1})"));
  EXPECT_FALSE(decode_summary(R"({"format":1,"expelled":false})")) << "all of it is missing";
}

TEST(Summary, OfALaterVersionMaySayMore) {
  std::string text = encode(whole());
  text.insert(text.size() - 1, R"(,"colour":"blue")");
  EXPECT_TRUE(decode_summary(text));
}

// C309
TEST(Summary, RefusesWhatANodeCannotBe) {
  const std::string good = encode(whole());
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  for (const std::string& text :
       {with("\"free\":400", "\"free\":1001"), with("\"free\":400", "\"free\":-1"),
        with("\"slots\":1000", "\"slots\":1000001"), with("\"epoch\":3", "\"epoch\":4294967296"),
        with("\"epoch\":3", "\"epoch\":\"3\""), with("\"format\":1", "\"format\":2"),
        with("\"seq\":17", "\"seq\":17,\"seq\":18"), with("\"seq\":17,", ""),
        with("\"draining\":true", "\"draining\":1"), with("\"warm\":\"", "\"warm\":\"g"),
        with("[2001:db8::7]:7070", "example.org:7070"), std::string{"[]"}, std::string{},
        good + std::string(5000, ' ')}) {
    EXPECT_FALSE(decode_summary(text)) << text;
  }
}

struct AddressRow {
  std::string_view address;
  bool is_one;
};
constexpr AddressRow kAddresses[] = {
    {"192.0.2.1:7070", true},    {"[2001:db8::1]:7070", true},   {"127.0.0.1:1", true},
    {"192.0.2.1:0", false},      {"192.0.2.1:65536", false},     {"192.0.2.1", false},
    {"192.0.2.1:", false},       {"192.0.2.1:07070", false},     {"192.0.2.1:+7", false},
    {"2001:db8::1:7070", false}, {"[192.0.2.1]:7070", false},    {"node-7:7070", false},
    {"0.0.0.0:7070", false},     {"[::]:7070", false},           {"224.0.0.1:7070", false},
    {"[ff02::1]:7070", false},   {"255.255.255.255:1", false},   {"[::ffff:192.0.2.1]:1", false},
    {"[fe80::1%eth0]:1", false}, {"192.0.2.1:70/x", false},      {"192.0.2.1 :7070", false},
    {"0x7f.0.0.1:7070", false},  {"192.0.2.1:7070\r\nX", false},
};

TEST(Summary, AnAddressIsOneMachineAndNoName) {
  for (const AddressRow& row : kAddresses) {
    EXPECT_EQ(check_address(row.address).has_value(), row.is_one) << row.address;
  }
}

TEST(Summary, IsWrittenWhenMoreThanOneInFiftySlotsChange) {
  const Summary last = whole();
  Summary now = last;
  EXPECT_FALSE(differs(last, now));
  now.gauge.at.seq = 18;
  now.gauge.free = 420;
  EXPECT_FALSE(differs(last, now));
  now.gauge.free = 421;
  EXPECT_TRUE(differs(last, now));
  now.gauge.free = 379;
  EXPECT_TRUE(differs(last, now));
  now = last;
  now.is_draining = false;
  EXPECT_TRUE(differs(last, now));
  now = last;
  now.gauge.warm.add("alpine");
  EXPECT_TRUE(differs(last, now));
  Summary full = last;
  full.gauge.free = 1;
  now = full;
  now.gauge.free = 0;
  EXPECT_TRUE(differs(full, now)) << "the last slot";
}

TEST(WarmSet, MayHaveWhatWasAddedAndIsTheSameEverywhere) {
  WarmSet set;
  EXPECT_FALSE(set.may_have("debian-12"));
  set.add("debian-12");
  EXPECT_TRUE(set.may_have("debian-12"));
  EXPECT_FALSE(set.may_have("alpine-3"));
  EXPECT_TRUE(WarmSet{set.bits()}.may_have("debian-12"));
}

}  // namespace
}  // namespace cordon::fleet
