// SPDX-License-Identifier: Apache-2.0
#include "node/sandbox_ids.h"

#include <set>

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

token::AudienceKey key_of(char fill) {
  Digest bytes{};
  bytes.fill(static_cast<std::byte>(fill));
  return token::AudienceKey{"node", 1, token::Secret{bytes}};
}

TEST(SandboxIds, SayWhereTheSandboxLives) {
  const SandboxIds::Place place{.cell = 7, .node = 65'537, .epoch = 4'000'000'000U};
  const SandboxIds ids{key_of('a'), place};
  const auto id = ids.make();
  ASSERT_TRUE(id);
  EXPECT_EQ(id->text().size(), 40U);
  EXPECT_TRUE(SandboxId::parse(id->text()));
  EXPECT_EQ(ids.read(*id), place);
  // Another start of the same node reads it too.
  EXPECT_EQ((SandboxIds{key_of('a'), {}}.read(*id)), place);
}

TEST(SandboxIds, AreNeverTheSame) {
  const SandboxIds ids{key_of('a'), {}};
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto id = ids.make();
    ASSERT_TRUE(id);
    EXPECT_TRUE(seen.insert(id->text()).second);
  }
}

TEST(SandboxIds, OfAnotherKeyAreNotOurs) {
  const auto id = SandboxIds{key_of('a'), {}}.make();
  ASSERT_TRUE(id);
  EXPECT_FALSE((SandboxIds{key_of('b'), {}}.read(*id)));
}

TEST(SandboxIds, WithOneLetterChangedAreNotOurs) {
  const SandboxIds ids{key_of('a'), {}};
  const auto id = ids.make();
  ASSERT_TRUE(id);
  for (std::size_t place = 0; place < id->text().size(); ++place) {
    std::string text = id->text();
    text[place] = text[place] == 'a' ? 'b' : 'a';
    const auto other = SandboxId::parse(text);
    ASSERT_TRUE(other);
    EXPECT_FALSE(ids.read(*other)) << place;
  }
  for (const char* text : {"a", "abcdefgh", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    EXPECT_FALSE(ids.read(*SandboxId::parse(text))) << text;
  }
}

TEST(LauncherName, IsOneOfTheLaunchersAlphabet) {
  EXPECT_TRUE(is_base32_name(launcher_name_of("acme-2")));
  EXPECT_EQ(launcher_name_of("acme-2"), launcher_name_of("acme-2"));
  EXPECT_NE(launcher_name_of("acme-2"), launcher_name_of("acme-3"));
}

}  // namespace
}  // namespace cordon::node
