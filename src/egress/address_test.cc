// SPDX-License-Identifier: Apache-2.0
#include "egress/address.h"

#include <vector>

#include <gtest/gtest.h>

namespace cordon::egress {
namespace {

using Range = AddressRange;
using policy::Addresses;

os::IpAddress ip(const std::string& text) {
  const auto address = os::IpAddress::parse(text);
  EXPECT_TRUE(address) << text;
  return *address;
}

Range range_of(const std::string& text) { return classify(ip(text)).range; }

// The address one further, or one back; both wrap.
os::IpAddress next(const os::IpAddress& address, bool back) {
  std::array<std::uint8_t, 16> bytes{};
  std::ranges::copy(address.bytes(), bytes.begin());
  for (std::size_t i = address.bytes().size(); i-- > 0;) {
    if (back ? bytes.at(i)-- != 0 : ++bytes.at(i) != 0) break;
  }
  if (address.is_v6()) return os::IpAddress::v6(bytes);
  return os::IpAddress::v4({bytes[0], bytes[1], bytes[2], bytes[3]});
}

struct Edges {
  const char* first;
  const char* last;
  Range range, before, after;
};

constexpr Edges kEdges[] = {
    {"0.0.0.0", "0.255.255.255", Range::unspecified, Range::broadcast, Range::public_},
    {"10.0.0.0", "10.255.255.255", Range::private_, Range::public_, Range::public_},
    {"100.64.0.0", "100.100.100.199", Range::shared, Range::public_, Range::metadata},
    {"100.100.100.200", "100.100.100.200", Range::metadata, Range::shared, Range::shared},
    {"100.100.100.201", "100.127.255.255", Range::shared, Range::metadata, Range::public_},
    {"127.0.0.0", "127.255.255.255", Range::loopback, Range::public_, Range::public_},
    {"168.63.129.16", "168.63.129.16", Range::metadata, Range::public_, Range::public_},
    {"169.254.0.0", "169.254.169.253", Range::link_local, Range::public_, Range::metadata},
    {"169.254.169.254", "169.254.169.254", Range::metadata, Range::link_local, Range::link_local},
    {"169.254.170.2", "169.254.170.2", Range::metadata, Range::link_local, Range::link_local},
    {"169.254.170.23", "169.254.170.23", Range::metadata, Range::link_local, Range::link_local},
    {"169.254.170.24", "169.254.255.255", Range::link_local, Range::metadata, Range::public_},
    {"172.16.0.0", "172.31.255.255", Range::private_, Range::public_, Range::public_},
    {"192.0.0.0", "192.0.0.191", Range::reserved, Range::public_, Range::metadata},
    {"192.0.0.192", "192.0.0.192", Range::metadata, Range::reserved, Range::reserved},
    {"192.0.0.193", "192.0.0.255", Range::reserved, Range::metadata, Range::public_},
    {"192.0.2.0", "192.0.2.255", Range::documentation, Range::public_, Range::public_},
    {"192.88.99.0", "192.88.99.255", Range::transition, Range::public_, Range::public_},
    {"192.168.0.0", "192.168.255.255", Range::private_, Range::public_, Range::public_},
    {"198.18.0.0", "198.19.255.255", Range::synthetic, Range::public_, Range::public_},
    {"198.51.100.0", "198.51.100.255", Range::documentation, Range::public_, Range::public_},
    {"203.0.113.0", "203.0.113.255", Range::documentation, Range::public_, Range::public_},
    {"224.0.0.0", "239.255.255.255", Range::multicast, Range::public_, Range::reserved},
    {"240.0.0.0", "255.255.255.254", Range::reserved, Range::multicast, Range::broadcast},
    {"255.255.255.255", "255.255.255.255", Range::broadcast, Range::reserved, Range::unspecified},

    {"::", "::", Range::unspecified, Range::multicast, Range::loopback},
    {"::1", "::1", Range::loopback, Range::unspecified, Range::unspecified},  // then 0.0.0.2
    {"64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", Range::transition, Range::reserved,
     Range::reserved},
    {"2000::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Range::public_, Range::reserved,
     Range::broadcast},  // then Teredo, with every bit of 255.255.255.255 flipped
    {"2001:1::", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", Range::reserved, Range::unspecified,
     Range::benchmark},
    {"2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Range::benchmark, Range::reserved,
     Range::reserved},
    {"2001:2:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Range::reserved, Range::benchmark,
     Range::public_},
    {"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Range::documentation, Range::public_,
     Range::public_},
    {"3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Range::documentation, Range::public_,
     Range::public_},
    {"3fff:1000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Range::public_, Range::documentation,
     Range::reserved},
    {"4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Range::reserved, Range::public_,
     Range::private_},
    {"fc00::", "fd00:42::41", Range::private_, Range::reserved, Range::metadata},
    {"fd00:42::42", "fd00:42::42", Range::metadata, Range::private_, Range::private_},
    {"fd00:ec2::", "fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff", Range::metadata, Range::private_,
     Range::private_},
    {"fd20:ce::254", "fd20:ce::254", Range::metadata, Range::private_, Range::private_},
    {"fd20:ce::255", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Range::private_, Range::metadata,
     Range::reserved},
    {"fe80::", "fe80::a9fe:a9fd", Range::link_local, Range::reserved, Range::metadata},
    {"fe80::a9fe:a9fe", "fe80::a9fe:a9fe", Range::metadata, Range::link_local, Range::link_local},
    {"fe80::a9fe:a9ff", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Range::link_local,
     Range::metadata, Range::reserved},
    {"fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Range::reserved, Range::link_local,
     Range::multicast},
    {"ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Range::multicast, Range::reserved,
     Range::unspecified},
};

TEST(Address, LiesInItsRangeUpToTheVeryEdges) {
  for (const Edges& row : kEdges) {
    EXPECT_EQ(range_of(row.first), row.range) << row.first;
    EXPECT_EQ(range_of(row.last), row.range) << row.last;
    EXPECT_EQ(classify(next(ip(row.first), true)).range, row.before) << "before " << row.first;
    EXPECT_EQ(classify(next(ip(row.last), false)).range, row.after) << "after " << row.last;
  }
}

TEST(Address, IsOfTheKindThatThePolicySays) {
  const auto agree = [](std::uint32_t quad) {
    const auto address = os::IpAddress::v4(
        {static_cast<std::uint8_t>(quad >> 24U), static_cast<std::uint8_t>(quad >> 16U),
         static_cast<std::uint8_t>(quad >> 8U), static_cast<std::uint8_t>(quad)});
    EXPECT_EQ(kind_of(classify(address).range), policy::kind_of(quad)) << address.text();
  };
  for (std::uint32_t high = 0; high < 0x10000; high += 7) {
    agree(high << 16U);
    agree(high << 16U | 0xFFFFU);
  }
  for (const Edges& row : kEdges) {
    for (const char* const text : {row.first, row.last}) {
      if (const auto quad = policy::ipv4_from(text)) {
        for (const std::uint32_t each : {*quad - 1, *quad, *quad + 1}) agree(each);
      }
    }
  }
}

TEST(Address, IsJudgedByTheIpv4AddressThatItCarries) {
  struct Case {
    std::string text;
    Range range;
    std::string inside;
  };
  const std::vector<Case> cases{
      {"::ffff:10.0.0.1", Range::private_, "10.0.0.1"},
      {"::ffff:127.0.0.1", Range::loopback, "127.0.0.1"},
      {"::ffff:169.254.169.254", Range::metadata, "169.254.169.254"},
      {"::ffff:0.0.0.0", Range::unspecified, "0.0.0.0"},
      {"::ffff:198.18.0.1", Range::synthetic, "198.18.0.1"},
      {"::ffff:93.184.216.34", Range::public_, "93.184.216.34"},
      {"64:ff9b::169.254.169.254", Range::metadata, "169.254.169.254"},
      {"64:ff9b::192.168.1.1", Range::private_, "192.168.1.1"},
      {"64:ff9b::93.184.216.34", Range::public_, "93.184.216.34"},
      {"::ffff:0:10.0.0.1", Range::private_, "10.0.0.1"},
      {"::ffff:0:93.184.216.34", Range::transition, "93.184.216.34"},
      {"::127.0.0.1", Range::loopback, "127.0.0.1"},
      {"::93.184.216.34", Range::transition, "93.184.216.34"},
      {"2002:a00:1::", Range::private_, "10.0.0.1"},
      {"2002:a9fe:a9fe::1", Range::metadata, "169.254.169.254"},
      {"2002:5db8:d822::1", Range::transition, "93.184.216.34"},
      {"2001:0:4136:e378:8000:63bf:f5ff:fffe", Range::private_, "10.0.0.1"},
      {"2001:0:4136:e378:8000:63bf:a247:27dd", Range::transition, "93.184.216.34"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(classify(ip(each.text)), (JudgedAddress{each.range, ip(each.inside)})) << each.text;
  }
  for (const std::string text : {"10.0.0.1", "::1", "::", "64:ff9b:0:0:0:1::", "2003:a00:1::",
                                 "2001:1:4136:e378:8000:63bf:f5ff:fffe", "::1:0:0:a00:1"}) {
    EXPECT_FALSE(classify(ip(text)).inside) << text;
  }
}

TEST(Address, IsRefusedInWords) {
  const auto why = [](const std::string& text) {
    const auto refusal = refuse_address(ip(text), Addresses::public_, {});
    return refusal ? refusal->why : "dialled";
  };
  EXPECT_EQ(why("93.184.216.34"), "dialled");
  EXPECT_EQ(why("2606:2800:220:1::1"), "dialled");
  EXPECT_EQ(why("10.0.0.1"), "10.0.0.1 is a private address");
  EXPECT_EQ(why("64:ff9b::a9fe:a9fe"),
            "64:ff9b::a9fe:a9fe (169.254.169.254) is the metadata service of a cloud");
  EXPECT_EQ(why("2002:5db8:d822::"),
            "2002:5db8:d822:: (93.184.216.34) is an IPv4 address hidden in an IPv6 one");
}

TEST(Address, OfAPrivateNetworkIsDialledOnlyWhereTheRuleSaysPrivate) {
  for (const std::string text : {"10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "fd12::1",
                                 "::ffff:10.0.0.1", "64:ff9b::10.0.0.1"}) {
    EXPECT_TRUE(refuse_address(ip(text), Addresses::public_, {})) << text;
    EXPECT_FALSE(refuse_address(ip(text), Addresses::private_, {})) << text;
  }
  EXPECT_FALSE(refuse_address(ip("93.184.216.34"), Addresses::private_, {}));  // public too
}

TEST(Address, IsDialledByNoRuleWhereOnlyTheHostOrTheLinkCouldAnswer) {
  for (const std::string text : {"127.0.0.1",        "::1",
                                 "0.0.0.0",          "::",
                                 "169.254.1.1",      "fe80::1",
                                 "169.254.169.254",  "fd00:ec2::254",
                                 "100.100.100.200",  "168.63.129.16",
                                 "192.0.0.192",      "169.254.170.2",
                                 "fd20:ce::254",     "224.0.0.251",
                                 "ff02::fb",         "255.255.255.255",
                                 "198.18.0.1",       "240.0.0.1",
                                 "::ffff:127.0.0.1", "::ffff:169.254.169.254",
                                 "2002:7f00:1::",    "64:ff9b:1::a00:1"}) {
    EXPECT_TRUE(refuse_address(ip(text), Addresses::private_, {})) << text;
  }
}

TEST(Address, OfThisHostIsDialledByNoRuleInAnySpelling) {
  const std::vector own{ip("93.184.216.34"), ip("10.1.2.3"), ip("2606:2800::1")};
  for (const std::string text : {"93.184.216.34", "10.1.2.3", "2606:2800::1",
                                 "::ffff:93.184.216.34", "64:ff9b::93.184.216.34"}) {
    const auto refusal =
        refuse_address(ip(text), Addresses::private_, own).value_or(AddressRefusal{});
    EXPECT_NE(refusal.why.find("is an address of this host"), std::string::npos) << text;
  }
  for (const std::string text : {"93.184.216.35", "10.1.2.4", "2606:2800::2"}) {
    EXPECT_FALSE(refuse_address(ip(text), Addresses::private_, own)) << text;
  }
}

}  // namespace
}  // namespace cordon::egress
