// SPDX-License-Identifier: Apache-2.0
#include "egress/name_table.h"

#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "egress/address.h"

namespace cordon::egress {
namespace {

constexpr NameOrigin kBoth[] = {NameOrigin::pinned, NameOrigin::fresh};

std::uint32_t added(NameTable& table, const std::string& name, NameOrigin origin) {
  const auto address = table.add(name, origin);
  EXPECT_TRUE(address) << address.error().text();
  EXPECT_TRUE(address->added) << name;
  return address->ipv4;
}

TEST(NameTable, GivesAddressesInOrderFromTheRangeOfEachOrigin) {
  NameTable table;
  EXPECT_EQ(added(table, "pypi.org", NameOrigin::pinned), 0xC6121000U);  // 198.18.16.0
  EXPECT_EQ(added(table, "a.example", NameOrigin::fresh), 0xC6130000U);  // 198.19.0.0
  EXPECT_EQ(added(table, "github.com", NameOrigin::pinned), 0xC6121001U);
  EXPECT_EQ(added(table, "b.example", NameOrigin::fresh), 0xC6130001U);
  EXPECT_EQ(table.name_of(0xC6121001), "github.com");
  EXPECT_EQ(table.address_of("b.example"), 0xC6130001U);
  EXPECT_EQ(table.names(NameOrigin::pinned), (std::vector<std::string>{"pypi.org", "github.com"}));
  EXPECT_EQ(table.bytes(), 36U);
}

TEST(NameTable, KeepsTheAddressOfANameWhoeverAddsItAgain) {
  NameTable table;
  const std::uint32_t address = added(table, "a.example", NameOrigin::fresh);
  for (const NameOrigin origin : kBoth) {
    EXPECT_EQ(*table.add("a.example", origin), (NamedAddress{address, false}));
  }
  EXPECT_TRUE(table.names(NameOrigin::pinned).empty());
}

TEST(NameTable, KnowsNoNameForAnAddressThatItHasNotGiven) {
  NameTable table;
  added(table, "a.example", NameOrigin::pinned);
  added(table, "b.example", NameOrigin::fresh);
  for (const std::uint32_t ipv4 :
       {0U, kDnsServer, kFirstPinned - 1, kFirstPinned + 1, kFirstFresh - 1, kFirstFresh + 1,
        kFirstPinned + 4096, 0xC613FFFFU, 0xFFFFFFFFU, 0x5DB8D822U}) {
    EXPECT_EQ(table.name_of(ipv4), std::nullopt) << ipv4;
  }
  EXPECT_EQ(table.address_of("c.example"), std::nullopt);
  EXPECT_EQ(table.address_of("A.example"), std::nullopt);  // one spelling
}

TEST(NameTable, TakesOnlyCanonicalNames) {
  NameTable table;
  for (const std::string name : {"", "A.example", "a.example.", "1.2.3.4", "a_b.example", "a..b"}) {
    for (const NameOrigin origin : kBoth) {
      const auto address = table.add(name, origin);
      ASSERT_FALSE(address) << name;
      EXPECT_EQ(address.error().code(), Errc::invalid);
    }
  }
  EXPECT_EQ(table, NameTable{});
}

TEST(NameTable, HoldsSoManyNamesOfEachOriginAndThenRefuses) {
  for (const NameOrigin origin : kBoth) {
    NameTable table;
    for (std::size_t i = 0; i < NameTable::kMostOfEach; ++i) {
      const std::uint32_t ipv4 = added(table, fmt::format("n{}.example", i), origin);
      ASSERT_TRUE(is_synthetic(ipv4));
      ASSERT_NE(ipv4, kDnsServer);
    }
    const NameTable full = table;
    const auto refused = table.add("one-more.example", origin);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Errc::exhausted);
    EXPECT_EQ(table, full);
    EXPECT_FALSE(table.add("n7.example", origin)->added);  // those that it has are still served
    const auto other = origin == NameOrigin::pinned ? NameOrigin::fresh : NameOrigin::pinned;
    EXPECT_TRUE(table.add("one-more.example", other)->added);
  }
}

TEST(NameTable, HoldsSoManyBytesAndThenRefuses) {
  NameTable table;
  const std::string label(63, 'b');
  const auto name = [&](std::size_t i) {  // 248 bytes
    return fmt::format("n{:055}.{}.{}.{}", i, label, label, label);
  };
  const std::size_t fit = NameTable::kMostBytes / name(0).size();
  ASSERT_LT(fit, NameTable::kMostOfEach);
  for (std::size_t i = 0; i < fit; ++i) added(table, name(i), NameOrigin::fresh);
  const auto refused = table.add(name(fit), NameOrigin::pinned);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::exhausted);
  EXPECT_LE(table.bytes(), NameTable::kMostBytes);
  added(table, std::string(NameTable::kMostBytes - table.bytes(), 'a'), NameOrigin::pinned);
  EXPECT_FALSE(table.add("z", NameOrigin::pinned));
}

TEST(NameTable, IsTheMapOfItsNamesWhateverIsAdded) {
  std::mt19937 dice{7};
  for (int round = 0; round < 5; ++round) {
    NameTable table;
    std::map<std::string, std::uint32_t> by_name;
    std::map<std::uint32_t, std::string> by_address;
    for (int step = 0; step < 500; ++step) {
      const std::string name = fmt::format("{}.{}", dice() % 200, dice() % 3 ? "a" : "b.c");
      const NameOrigin origin = kBoth[dice() % 2];
      const auto address = table.add(name, origin);
      ASSERT_TRUE(address);
      const auto known = by_name.find(name);
      ASSERT_EQ(address->added, known == by_name.end());
      if (known == by_name.end()) {
        ASSERT_TRUE(by_address.emplace(address->ipv4, name).second) << "an address given twice";
        by_name.emplace(name, address->ipv4);
      } else {
        ASSERT_EQ(address->ipv4, known->second);
      }
    }
    std::size_t bytes = 0;
    for (const auto& [name, ipv4] : by_name) {
      bytes += name.size();
      EXPECT_EQ(table.address_of(name), ipv4);
      EXPECT_EQ(table.name_of(ipv4), name);
    }
    EXPECT_EQ(table.bytes(), bytes);
    for (std::uint32_t ipv4 = 0xC6120000; ipv4 < 0xC6140000; ++ipv4) {
      ASSERT_EQ(table.name_of(ipv4).has_value(), by_address.contains(ipv4));
    }
  }
}

TEST(SyntheticAddresses, AreTheRangeThatIsNeverDialled) {
  for (const std::uint32_t ipv4 : {0xC611FFFFU, 0xC6120000U, 0xC613FFFFU, 0xC6140000U}) {
    const auto address = os::IpAddress::v4(
        {static_cast<std::uint8_t>(ipv4 >> 24U), static_cast<std::uint8_t>(ipv4 >> 16U),
         static_cast<std::uint8_t>(ipv4 >> 8U), static_cast<std::uint8_t>(ipv4)});
    EXPECT_EQ(is_synthetic(ipv4), classify(address).range == AddressRange::synthetic) << ipv4;
  }
}

}  // namespace
}  // namespace cordon::egress
