// SPDX-License-Identifier: Apache-2.0
#include "egress/dns_stream.h"

#include <string>

#include <gtest/gtest.h>

#include "egress/dns_bytes_test.h"
#include "egress/dns_query.h"

namespace cordon::egress {
namespace {

// The messages of a stream that arrives in pieces of `chunk` bytes; "refused" where it ends so.
std::vector<std::string> cut(std::span<const std::byte> bytes, std::size_t chunk) {
  DnsStream stream;
  std::vector<std::string> messages;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(chunk, bytes.size()));
    bytes = bytes.subspan(piece.size());
    stream.push(piece);
    while (true) {
      const auto next = stream.next();
      if (!next) {
        messages.emplace_back("refused");
        return messages;
      }
      const auto& message = *next;
      if (!message) break;
      messages.push_back(to_hex(*message));
    }
  }
  return messages;
}

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(DnsStream, IsCutAlikeHoweverItArrives) {
  const Bytes first = Raw{}.bytes();
  const Bytes second = with_opt().bytes();
  const Bytes half = from_hex("0009 1234");
  const Bytes stream = joined({with_length(first), with_length(second), half});
  for (std::size_t chunk = 1; chunk <= stream.size(); ++chunk) {
    EXPECT_EQ(cut(stream, chunk), (std::vector<std::string>{to_hex(first), to_hex(second)}));
  }
}

TEST(DnsStream, IsRefusedAtALengthThatNoQueryHas) {
  const Bytes query = Raw{}.bytes();
  const auto after_one = [&](std::string_view hex) {
    return cut(joined({with_length(query), from_hex(hex)}), 7);
  };
  EXPECT_EQ(after_one("0000"), (std::vector<std::string>{to_hex(query), "refused"}));
  EXPECT_EQ(after_one("1001"), (std::vector<std::string>{to_hex(query), "refused"}));
  EXPECT_EQ(after_one("ffff"), (std::vector<std::string>{to_hex(query), "refused"}));
  EXPECT_EQ(after_one("1000"), (std::vector<std::string>{to_hex(query)}));  // waits for 4,096
  EXPECT_EQ(after_one("00"), (std::vector<std::string>{to_hex(query)}));
  const Bytes longest = with_length(Bytes(kLongestDnsQueryByTcp));
  EXPECT_EQ(cut(longest, 1000).size(), 1U);
}

TEST(DnsStream, WritesTheLengthWithItsHighByteFirst) {
  EXPECT_EQ(to_hex(with_length(from_hex("abcd"))), "0002abcd");
  const Bytes long_one = with_length(Bytes(0x1234));
  EXPECT_EQ(to_hex(std::span<const std::byte>{long_one}.first(2)), "1234");
}

}  // namespace
}  // namespace cordon::egress
