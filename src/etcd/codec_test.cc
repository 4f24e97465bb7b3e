// SPDX-License-Identifier: Apache-2.0
#include "etcd/codec.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cordon::etcd {
namespace {

using namespace std::string_literals;

std::string hex(const std::string& bytes) { return to_hex(as_bytes(bytes)); }

// Bytes as the API writes them down: a field's number and kind, then its value.
TEST(EtcdCodec, WritesRequestsAsTheApiHasThem) {
  EXPECT_EQ(hex(encode(Range{.keys = only("/a"), .limit = 5, .at = 7})), "0a022f6118052007");
  EXPECT_EQ(hex(encode(Range{.keys = below("/a")})), "0a022f6112022f62");
  EXPECT_EQ(hex(encode(Put{.key = "k", .value = "v", .lease = LeaseId{3}})), "0a016b1201761803");
  EXPECT_EQ(hex(encode(Remove{.keys = only("k")})), "0a016b");
  EXPECT_EQ(hex(encode_grant(LeaseId{2}, std::chrono::seconds{10})), "080a1002");
  EXPECT_EQ(hex(encode_revoke(LeaseId{2})), "0802");
  EXPECT_EQ(hex(encode_keep_alive(LeaseId{2})), "0802");
  EXPECT_EQ(hex(encode_watch(only("k"), 9)), "0a070a016b18094001");
  EXPECT_EQ(hex(encode_progress()), "1a00");
}

TEST(EtcdCodec, WritesEachConditionUnderItsOwnNumber) {
  using R = Compare::Relation;
  const auto one = [](Compare compare) {
    return hex(encode(Txn{.when = {std::move(compare)}, .then = {}, .otherwise = {}}));
  };
  EXPECT_EQ(one({"k", R::equal, Compare::Version{1}}), "0a051a016b2001");
  EXPECT_EQ(one({"k", R::greater, Compare::CreateRevision{1}}), "0a09080110011a016b2801");
  EXPECT_EQ(one({"k", R::less, Compare::ModRevision{1}}), "0a09080210021a016b3001");
  EXPECT_EQ(one({"k", R::not_equal, Compare::Value{"v"}}), "0a0a080310031a016b3a0176");
  EXPECT_EQ(one({"k", R::equal, LeaseId{1}}), "0a0710041a016b4001");
  // 0 is said, too: the absence of a key is a condition.
  EXPECT_EQ(one({"k", R::equal, Compare::ModRevision{0}}), "0a0710021a016b3000");
}

TEST(EtcdCodec, PrefixesEndBehindTheirLastKey) {
  EXPECT_EQ(below("/nodes/"), (KeyRange{"/nodes/", "/nodes0"}));
  EXPECT_EQ(below("a\xFF"), (KeyRange{"a\xFF", "b"}));
  EXPECT_EQ(below("\xFF\xFF"), (KeyRange{"\xFF\xFF", "\0"s}));
}

TEST(EtcdCodec, ReadsWhatIsFound) {
  const std::string bytes =
      "\x0a\x04\x08\x05\x18\x09\x12\x0e\x0a\x01k\x10\x02\x18\x03\x20\x02\x2a\x01v\x30\x07\x18\x01"s;
  const auto found = decode_found(bytes);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->origin.cluster, 5U);
  EXPECT_EQ(found->origin.revision, 9);
  EXPECT_TRUE(found->more);
  const KeyValue wanted{
      .key = "k", .value = "v", .create_revision = 2, .mod_revision = 3, .lease = LeaseId{7}};
  ASSERT_EQ(found->values.size(), 1U);
  EXPECT_EQ(found->values[0], wanted);
}

TEST(EtcdCodec, ReadsEventsAndWhyAWatchEnded) {
  const auto events = decode_watch(
      "\x0a\x02\x18\x09\x5a\x07\x12\x05\x0a\x01k\x18\x03\x5a\x09\x08\x01\x12\x05\x0a\x01k\x18\x04"s);
  ASSERT_TRUE(events) << events.error().text();
  ASSERT_EQ(events->events.size(), 2U);
  EXPECT_EQ(events->events[0].kind, Event::Kind::put);
  EXPECT_EQ(events->events[1].kind, Event::Kind::removed);
  EXPECT_EQ(events->events[1].now.mod_revision, 4);
  const auto ended = decode_watch("\x20\x01\x28\x08\x32\x02no"s);
  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_TRUE(ended->cancelled);
  EXPECT_EQ(ended->compacted, 8);
  EXPECT_EQ(ended->reason, "no");
}

TEST(EtcdCodec, RefusesWhatIsNoMessage) {
  for (const std::string& bytes : {"\x0a"s, "\x0a\x05\x08"s, "\xFF\xFF\xFF"s}) {
    EXPECT_FALSE(decode_found(bytes));
    EXPECT_FALSE(decode_decided(bytes));
    EXPECT_FALSE(decode_watch(bytes));
  }
  EXPECT_FALSE(decode_decided("\x1a\x00"s)) << "an answer to no operation";
}

}  // namespace
}  // namespace cordon::etcd
