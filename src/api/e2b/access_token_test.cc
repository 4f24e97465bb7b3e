// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/access_token.h"

#include <array>

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

AccessTokens tokens_of(unsigned char first) {
  std::array<std::byte, kDigestSize> bytes{};
  bytes[0] = std::byte{first};
  return AccessTokens{token::Secret{bytes}};
}

TEST(E2bAccessToken, IsOfOneSandboxOneDoorAndOneNode) {
  const AccessTokens tokens = tokens_of(1);
  const std::string token = tokens.of("abcd", Door::services);
  EXPECT_EQ(token, tokens.of("abcd", Door::services));
  EXPECT_EQ(token.size(), 40U);
  EXPECT_TRUE(tokens.opens(token, "abcd", Door::services));
  EXPECT_FALSE(tokens.opens(token, "abce", Door::services));
  EXPECT_FALSE(tokens.opens(token, "abcd", Door::traffic));
  EXPECT_FALSE(tokens_of(2).opens(token, "abcd", Door::services));
  EXPECT_FALSE(tokens.opens("", "abcd", Door::services));
  EXPECT_FALSE(tokens.opens(token.substr(1), "abcd", Door::services));
}

}  // namespace
}  // namespace cordon::api::e2b
