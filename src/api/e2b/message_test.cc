// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/message.h"

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

template <class T>
T value_of(Result<std::optional<T>> found) {
  EXPECT_TRUE(found && *found);
  if (!found) return T{};
  std::optional<T> held = *std::move(found);
  return held.value_or(T{});
}

TEST(E2bMessage, PassesOverWhatItDoesNotKnow) {
  const auto message = Message::read(R"({"new":{"deep":[1]},"path":"/a","nothing":null})");
  ASSERT_TRUE(message);
  EXPECT_EQ(value_of(message->text("path")), "/a");
  EXPECT_FALSE(message->has("nothing"));
  EXPECT_TRUE(message->has("new"));
}

TEST(E2bMessage, FindsBothSpellingsOfAName) {
  const auto message = Message::read(R"({"watcher_id":"w","includeEntry":true})");
  ASSERT_TRUE(message);
  EXPECT_EQ(value_of(message->text("watcherId")), "w");
  EXPECT_TRUE(value_of(message->boolean("includeEntry")));
}

TEST(E2bMessage, ReadsNumbersThatAreTexts) {
  const auto message = Message::read(R"({"a":5,"b":"7","c":"7x","d":1.5,"e":""})");
  ASSERT_TRUE(message);
  EXPECT_EQ(value_of(message->number("a")), 5);
  EXPECT_EQ(value_of(message->number("b")), 7);
  for (const char* name : {"c", "d", "e"}) EXPECT_FALSE(message->number(name)) << name;
}

TEST(E2bMessage, ReadsBytesInEitherAlphabet) {
  const auto message = Message::read(R"({"a":"aGV5Cg==","b":"aGV5Cg","c":"-_8","d":"?"})");
  ASSERT_TRUE(message);
  EXPECT_EQ(value_of(message->bytes("a")), "hey\n");
  EXPECT_EQ(value_of(message->bytes("b")), "hey\n");
  EXPECT_EQ(value_of(message->bytes("c")), "\xfb\xff");
  EXPECT_FALSE(message->bytes("d"));
}

TEST(E2bMessage, KeepsNewlinesAndRefusesDoubleKeys) {
  const auto message = Message::read("{\"cmd\":\"a\\nb\"}");
  ASSERT_TRUE(message);
  EXPECT_EQ(value_of(message->text("cmd")), "a\nb");
  EXPECT_FALSE(Message::read(R"({"a":1,"a":2})"));
  EXPECT_FALSE(Message::read("[]"));
  EXPECT_TRUE(Message::read(""));
}

TEST(E2bMessage, IsOfOneKind) {
  const auto message = Message::read(R"({"a":1,"list":["x",2],"map":{"k":1}})");
  ASSERT_TRUE(message);
  EXPECT_FALSE(message->text("a"));
  EXPECT_FALSE(message->object("a"));
  EXPECT_FALSE(message->boolean("a"));
  EXPECT_FALSE(message->texts("list"));
  EXPECT_FALSE(message->texts_by_name("map"));
}

}  // namespace
}  // namespace cordon::api::e2b
