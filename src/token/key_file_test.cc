// SPDX-License-Identifier: Apache-2.0
#include "token/key_file.h"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "token/tokens_test.h"

namespace cordon::token {
namespace {

const std::string kHex = "05080b0e1114171a1d202326292c2f3235383b3e4144474a4d505356595c5f62";

TEST(KeyFile, IsOneLineThatSaysWhatItIs) {
  EXPECT_EQ(as_text(key_file_text(RootKey{secret_from(5), 3})), "cordon root key 3 " + kHex + "\n");
  const AudienceKey key{"node-a", 255, secret_from(5)};
  EXPECT_EQ(as_text(key_file_text(key)), "cordon audience key 255 node-a " + kHex + "\n");
}

TEST(KeyFile, LeadsBackToTheSameKey) {
  const auto root = parse_key_file(key_file_text(RootKey{secret_from(9), 0}));
  ASSERT_TRUE(root);
  EXPECT_EQ(to_hex(std::get<RootKey>(*root).secret().bytes()), to_hex(secret_from(9).bytes()));
  EXPECT_EQ(std::get<RootKey>(*root).number(), 0);
  const auto key = parse_key_file(key_file_text(AudienceKey{"node-a", 7, secret_from(9)}));
  ASSERT_TRUE(key);
  EXPECT_EQ(std::get<AudienceKey>(*key).audience(), "node-a");
  EXPECT_EQ(std::get<AudienceKey>(*key).number(), 7);
  EXPECT_EQ(to_hex(std::get<AudienceKey>(*key).secret().bytes()), to_hex(secret_from(9).bytes()));
}

TEST(KeyFile, RefusesAnythingElseWithoutRepeatingIt) {
  for (const std::string& text : {std::string{},
                                  std::string{"\n"},
                                  kHex,
                                  kHex + "\n",
                                  "cordon root key 1 " + kHex,
                                  "cordon root key 1 " + kHex + "\n\n",
                                  "cordon root key 1  " + kHex + "\n",
                                  "cordon root key 01 " + kHex + "\n",
                                  "cordon root key 256 " + kHex + "\n",
                                  "cordon root key -1 " + kHex + "\n",
                                  "cordon root key " + kHex + "\n",
                                  "cordon root key 1 " + kHex.substr(1) + "\n",
                                  "cordon root key 1 " + kHex + "0\n",
                                  "cordon root key 1 G" + kHex.substr(1) + "\n",
                                  "cordon root key 1 A" + kHex.substr(1) + "\n",
                                  "cordon audience key 1 " + kHex + "\n",
                                  "cordon audience key 1 Node " + kHex + "\n",
                                  "cordon audience key 1  " + kHex + "\n",
                                  "cordon root key 1 node-a " + kHex + "\n",
                                  std::string(300, ' ') + "\n"}) {
    const auto key = parse_key_file(as_bytes(text));
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().text(), "it is not a key of `cordon token key`");
  }
}

}  // namespace
}  // namespace cordon::token
