// SPDX-License-Identifier: Apache-2.0
#include "os/ip_address.h"

#include <gtest/gtest.h>

namespace cordon::os {
namespace {

TEST(IpAddress, ReadsAndWritesBothFamilies) {
  for (const char* text : {"127.0.0.1", "255.255.255.255", "::1", "fd00::1234"}) {
    const auto address = IpAddress::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->text(), text);
  }
  EXPECT_FALSE(IpAddress::parse("10.0.0.1")->is_v6());
  EXPECT_EQ(IpAddress::parse("::1")->bits(), 128);
  EXPECT_EQ(IpAddress::v4({10, 0, 0, 1}), *IpAddress::parse("10.0.0.1"));
  EXPECT_EQ(IpAddress::v6({0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}),
            *IpAddress::parse("fd00::1"));
}

TEST(IpAddress, RefusesOtherSpellings) {
  for (const char* text : {"", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4/8", "fe80::1%lo", "[::1]",
                           "0x7f.0.0.1", " 1.2.3.4", "localhost"}) {
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  }
}

TEST(IpBlock, IsNamedWithItsPrefix) {
  EXPECT_EQ(to_string(IpBlock{IpAddress::v4({10, 0, 0, 0}), 8}), "10.0.0.0/8");
}

}  // namespace
}  // namespace cordon::os
