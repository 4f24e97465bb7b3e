// SPDX-License-Identifier: Apache-2.0
#include "token/api_key.h"

#include <array>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cordon::token {
namespace {

TEST(ApiKey, HasOneSpelling) {
  std::array<std::byte, kApiKeyBytes> random{};
  for (std::size_t i = 0; i < random.size(); ++i) random[i] = static_cast<std::byte>(i * 7 + 3);
  const std::string text = api_key_from(random);
  EXPECT_EQ(text, "cdnk_amfbcga7eywtio2cjfifoxtfnrzxvamir6lj3jflwk44br6o2xoa");
  EXPECT_TRUE(api_key_digest(text));
  for (const std::string& other :
       {text.substr(1), text + "a", text.substr(0, text.size() - 1), std::string{"cdnk_"},
        "CDNK_" + text.substr(5), text.substr(0, text.size() - 1) + "b", std::string{}}) {
    EXPECT_FALSE(api_key_digest(other)) << other;
  }
}

TEST(ApiKey, IsTheSameInHexadecimalDigits) {
  std::array<std::byte, kApiKeyBytes> random{};
  random[3] = std::byte{9};
  const std::string text = api_key_from(random);
  const std::string hex = e2b_key_of(text);
  EXPECT_TRUE(hex.starts_with("e2b_"));
  EXPECT_EQ(hex.find_first_not_of("0123456789abcdef", 4), std::string::npos);
  ASSERT_TRUE(api_key_digest(hex));
  EXPECT_EQ(*api_key_digest(hex), *api_key_digest(text));
  for (const std::string& other :
       {hex + "61", hex.substr(0, hex.size() - 2), "e2b_" + std::string(104, '0'),
        std::string{"e2b_"}, hex.substr(0, hex.size() - 1) + "G"}) {
    EXPECT_FALSE(api_key_digest(other)) << other;
  }
}

TEST(ApiKey, MayHaveATokenInIt) {
  const std::string key = e2b_key_of_token("cdn1_AbC-_");
  EXPECT_EQ(key, "e2b_63646e315f4162432d5f");
  EXPECT_EQ(token_in_e2b_key(key), "cdn1_AbC-_");
  EXPECT_FALSE(api_key_digest(key));
  for (const std::string& other :
       {std::string{"e2b_"}, key + "6", "e2b_" + std::string{"63646E315f41"}, key.substr(4),
        e2b_key_of(api_key_from(std::array<std::byte, kApiKeyBytes>{}))}) {
    EXPECT_FALSE(token_in_e2b_key(other)) << other;
  }
}

TEST(ApiKey, IsKeptAsADigestOfTheWholeText) {
  const std::string text = api_key_from(std::array<std::byte, kApiKeyBytes>{});
  const auto digest = api_key_digest(text);
  ASSERT_TRUE(digest);
  EXPECT_EQ(*digest, sha256({as_bytes(text)}));
  std::array<std::byte, kApiKeyBytes> other{};
  other[31] = std::byte{1};
  EXPECT_NE(*api_key_digest(api_key_from(other)), *digest);
}

}  // namespace
}  // namespace cordon::token
