// SPDX-License-Identifier: Apache-2.0
#include "fleet/moved.h"

#include <gtest/gtest.h>

namespace cordon::fleet {
namespace {

const std::string kMoveNumber(32, 'a');
const std::string kSandbox = "abcdefghijklmnop";
const std::string kBeside = "bbcdefghijklmnop";

etcd::KeyValue value(NodeId to, NodeId from) {
  return {.key = {}, .value = encode({to, from, kMoveNumber}), .mod_revision = 1};
}

TEST(Passage, ReadsWhatItWritesAndNothingElse) {
  const Passage passage{.to = {1, 2}, .from = {1, 1}, .move = kMoveNumber};
  const auto back = decode_passage(encode(passage));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, passage);
  for (const std::string& text :
       {std::string{}, std::string{"1.2"}, "1.2 1.1 " + kMoveNumber + "a", "1.2  " + kMoveNumber,
        "01.2 1.1 " + kMoveNumber, "1.2 1.1 " + std::string(32, 'X'), encode(passage) + " "}) {
    EXPECT_FALSE(decode_passage(text)) << text;
  }
}

TEST(Moved, TellsWhatIsNewOnceAndForgetsWhatIsGone) {
  Moved moved;
  std::map<std::string, etcd::KeyValue> values{{moved_key_of(kSandbox), value({1, 2}, {1, 1})}};
  EXPECT_EQ(moved.took(values), std::vector{kSandbox});
  EXPECT_EQ(moved.where(kSandbox), (NodeId{1, 2}));
  EXPECT_EQ(moved.where(kBeside), std::nullopt);
  values.emplace(moved_key_of(kBeside), value({1, 3}, {1, 1}));
  EXPECT_EQ(moved.took(values), std::vector{kBeside});
  EXPECT_TRUE(moved.took(values).empty());
  values.erase(moved_key_of(kSandbox));
  EXPECT_TRUE(moved.took(values).empty());
  EXPECT_EQ(moved.where(kSandbox), std::nullopt);
}

TEST(Moved, LeavesOutWhatNobodyCanRead) {
  Moved moved;
  EXPECT_TRUE(moved
                  .took({{moved_key_of("No-Name"), value({1, 2}, {1, 1})},
                         {moved_key_of(kSandbox), {.key = {}, .value = "1.2"}}})
                  .empty());
  EXPECT_EQ(moved.size(), 0U);
}

TEST(Moved, BelievesEtcdBeforeANode) {
  Moved moved;
  moved.heard(kSandbox, {1, 7});
  EXPECT_EQ(moved.where(kSandbox), (NodeId{1, 7}));
  moved.know(kSandbox, {.to = {1, 2}, .from = {1, 1}, .move = kMoveNumber});
  EXPECT_EQ(moved.where(kSandbox), (NodeId{1, 2}));
}

TEST(Moved, IsKeptForTheNextStart) {
  Moved moved;
  moved.know(kSandbox, {.to = {1, 2}, .from = {1, 1}, .move = kMoveNumber});
  Moved next;
  next.restore("nonsense\n" + moved.saved() + "No-Name 1.2 1.1 " + kMoveNumber + "\n");
  EXPECT_EQ(next.size(), 1U);
  ASSERT_NE(next.passage(kSandbox), nullptr);
  EXPECT_EQ(*next.passage(kSandbox), *moved.passage(kSandbox));
}

}  // namespace
}  // namespace cordon::fleet
