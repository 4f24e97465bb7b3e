// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <gtest/gtest.h>

namespace cordon {
namespace {

// The examples of RFC 4648, section 10.
TEST(Base64, IsAsTheStandardSays) {
  const std::pair<std::string_view, std::string_view> examples[] = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string all;
  for (int value = 255; value >= 0; --value) all += static_cast<char>(value);
  for (std::size_t length = 0; length <= all.size(); ++length) {
    const std::string some = all.substr(0, length);
    EXPECT_EQ(from_base64(to_base64(some)), some) << length;
  }
}

TEST(Base64, HasOneSpellingOfEach) {
  for (const std::string_view text : {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zg==Zg==", "Z g=",
                                      "Zm-_", "====", "=", "Zg=A"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace cordon
