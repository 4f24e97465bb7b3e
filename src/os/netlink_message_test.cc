// SPDX-License-Identifier: Apache-2.0
#include "os/netlink_message.h"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cordon::os {
namespace {

TEST(NetlinkMessage, ComesApartAsItWasPutTogether) {
  NetlinkMessage message{7, NLM_F_REQUEST};
  message.fixed(std::uint32_t{0xAABBCCDD});
  message.attribute(1, std::uint32_t{5});
  message.attribute(2, std::string_view{"name"});  // five bytes with the NUL: padded
  message.attribute(3, as_bytes("x"));
  const auto bytes = message.finish(42);
  EXPECT_EQ(bytes.size() % 4, 0U);

  const auto messages = split_messages(bytes);
  ASSERT_TRUE(messages) << messages.error().text();
  ASSERT_EQ(messages->size(), 1U);
  EXPECT_EQ(messages->front().type, 7);
  EXPECT_EQ(messages->front().sequence, 42U);
  EXPECT_EQ(*read_fixed<std::uint32_t>(messages->front().payload), 0xAABBCCDDU);

  const auto attributes = split_attributes(messages->front().payload.subspan(4));
  ASSERT_TRUE(attributes) << attributes.error().text();
  ASSERT_EQ(attributes->size(), 3U);
  EXPECT_EQ(*read_fixed<std::uint32_t>((*attributes)[0].payload), 5U);
  EXPECT_EQ((*attributes)[1].payload.size(), 5U);
  EXPECT_EQ((*attributes)[2].payload.size(), 1U);
}

TEST(NetlinkMessage, SeveralLieOneBehindTheOther) {
  NetlinkMessage one{1, 0};
  NetlinkMessage two{2, 0};
  const auto first = one.finish(1);
  const auto second = two.finish(2);
  std::vector<std::byte> both{first.begin(), first.end()};
  both.insert(both.end(), second.begin(), second.end());
  ASSERT_EQ(split_messages(both)->size(), 2U);
  EXPECT_EQ((*split_messages(both))[1].type, 2);
}

TEST(NetlinkMessage, LengthsThatLeadOutAreRefused) {
  NetlinkMessage message{1, 0};
  message.attribute(1, std::uint32_t{5});
  const auto finished = message.finish(1);
  const std::vector<std::byte> whole{finished.begin(), finished.end()};
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(split_messages(std::span{whole}.first(size))) << size;
  }
  // 15: shorter than its own header; with 0 a careless walk would stand still for ever.
  for (const unsigned length : {0U, 15U, 25U, 0xFFFFFFFFU}) {
    std::vector<std::byte> wrong = whole;
    std::memcpy(wrong.data(), &length, sizeof length);
    EXPECT_FALSE(split_messages(wrong)) << length;
  }
  using Length = std::uint16_t;
  for (const Length length : {Length{0}, Length{3}, Length{9}, Length{0xFFFF}}) {
    std::vector<std::byte> wrong{whole.begin() + sizeof(nlmsghdr), whole.end()};
    std::memcpy(wrong.data(), &length, sizeof length);
    EXPECT_FALSE(split_attributes(wrong)) << length;
  }
}

}  // namespace
}  // namespace cordon::os
