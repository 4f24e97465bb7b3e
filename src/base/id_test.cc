// SPDX-License-Identifier: Apache-2.0
#include "base/id.h"

#include <array>

#include <gtest/gtest.h>

namespace cordon {
namespace {

std::string encode(std::string_view text) { return base32(std::as_bytes(std::span{text})); }

TEST(Id, EncodesTheVectorsOfRfc4648) {
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode("f"), "my");
  EXPECT_EQ(encode("fo"), "mzxq");
  EXPECT_EQ(encode("foo"), "mzxw6");
  EXPECT_EQ(encode("foob"), "mzxw6yq");
  EXPECT_EQ(encode("fooba"), "mzxw6ytb");
  EXPECT_EQ(encode("foobar"), "mzxw6ytboi");
}

TEST(Id, AcceptsOnlyItsOwnSpelling) {
  EXPECT_TRUE(SandboxId::parse("mzxw6"));
  for (const std::string_view bad : {"", "MZXW6", "mzxw1", "mz-w6", "../etc", "mzxw6\n"}) {
    EXPECT_FALSE(SandboxId::parse(bad)) << bad;
  }
  EXPECT_TRUE(SandboxId::parse(std::string(52, 'a')));
  EXPECT_FALSE(SandboxId::parse(std::string(53, 'a')));
}

TEST(Id, OfThirtyTwoBytesFits) {
  EXPECT_TRUE(SandboxId::parse(SandboxId::from_bytes(std::array<std::byte, 32>{}).text()));
}

}  // namespace
}  // namespace cordon
