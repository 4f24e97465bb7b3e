// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

namespace cordon {
namespace {

TEST(Bytes, WhatIsWrittenIsRead) {
  ByteWriter writer;
  writer.integer(std::uint16_t{0x1234});
  writer.text("cordon");
  writer.integer(std::uint64_t{7});
  ByteReader reader{writer.bytes()};
  EXPECT_EQ(*reader.integer<std::uint16_t>(), 0x1234);
  EXPECT_EQ(*reader.text(6), "cordon");
  EXPECT_EQ(*reader.integer<std::uint64_t>(), 7U);
  EXPECT_TRUE(reader.finish());
  EXPECT_EQ(to_hex(writer.bytes().first(2)), "3412");
}

TEST(Bytes, EveryTruncationIsRefused) {
  ByteWriter writer;
  writer.text("cordon");
  for (std::size_t length = 0; length < writer.bytes().size(); ++length) {
    ByteReader reader{writer.bytes().first(length)};
    EXPECT_FALSE(reader.text(6)) << length;
  }
}

TEST(Bytes, LongerThanTheLimitIsRefused) {
  ByteWriter writer;
  writer.text("cordon");
  ByteReader reader{writer.bytes()};
  EXPECT_FALSE(reader.text(5));
}

TEST(Bytes, HexIsReadAsItIsWritten) {
  std::array<std::byte, 3> bytes{};
  ASSERT_TRUE(from_hex("00a9ff", bytes));
  EXPECT_EQ(to_hex(bytes), "00a9ff");
  for (const char* text : {"", "00a9f", "00a9ff0", "00A9FF", "00a9fg", "0x00a9", "-1a9ff"}) {
    EXPECT_FALSE(from_hex(text, bytes)) << text;
  }
}

TEST(Bytes, TrailingBytesAreAnError) {
  ByteReader reader{as_bytes("x")};
  EXPECT_FALSE(reader.finish());
}

}  // namespace
}  // namespace cordon
