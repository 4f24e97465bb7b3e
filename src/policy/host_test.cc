// SPDX-License-Identifier: Apache-2.0
#include "policy/host.h"

#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cordon::policy {
namespace {

TEST(CanonicalName, HasOneSpelling) {
  const std::string label(63, 'a');
  const std::string longest =
      label + "." + label + "." + label + "." + std::string(61, 'a');  // 253 characters
  for (const std::string& good :
       std::vector<std::string>{"a", "localhost", "a.example", "xn--bcher-kva.example", "1.example",
                                "0x7f.example", "a-b.example", "1a", label + ".example", longest}) {
    EXPECT_TRUE(is_canonical_name(good)) << good;
  }
  for (const std::string& bad : std::vector<std::string>{"",
                                                         ".",
                                                         "a.",
                                                         ".a",
                                                         "a..b",
                                                         "A.example",
                                                         "a_b.example",
                                                         "-a",
                                                         "a-",
                                                         "a.-b",
                                                         "a b",
                                                         "*.a.example",
                                                         "a:1",
                                                         "a/b",
                                                         "a@b",
                                                         "b\xC3\xBC",
                                                         "127.1",
                                                         "2130706433",
                                                         "a.0x1",
                                                         "0x7f",
                                                         "1.2.3.4",
                                                         "0177.0.0.1",
                                                         label + "a.example",
                                                         longest + "a",
                                                         std::string{"a\0.example", 10},
                                                         "a\n",
                                                         "[::1]"}) {
    EXPECT_FALSE(is_canonical_name(bad)) << bad;
  }
}

TEST(Ipv4, IsADottedQuadAndNothingElse) {
  EXPECT_EQ(ipv4_from("0.0.0.0"), 0U);
  EXPECT_EQ(ipv4_from("255.255.255.255"), 0xFFFFFFFFU);
  EXPECT_EQ(ipv4_from("1.2.3.4"), 0x01020304U);
  EXPECT_EQ(ipv4_from("10.0.100.200"), 0x0A0064C8U);
  for (const std::string_view bad :
       {"",          ".",        "1",          "1.2.3",     "1.2.3.",
        ".1.2.3",    "1.2.3.4.", "1.2.3.4.5",  "1..3.4",    "01.2.3.4",
        "1.2.3.04",  "00.0.0.0", "256.1.1.1",  "1.2.3.256", "1.2.3.1000",
        "1.2.3.0x4", "1.2.3.-4", "1.2.3.+4",   " 1.2.3.4",  "1.2.3.4 ",
        "1.2.3.4a",  "0x7f.1",   "2130706433", "::1",       "1.2.3.\xD9\xA1"}) {
    EXPECT_FALSE(ipv4_from(bad)) << bad;
  }
}

// Every address has one quad, and every quad of this form is read back.
TEST(Ipv4, IsReadBackAsWritten) {
  for (std::uint64_t address = 0; address <= 0xFFFFFFFFU; address += 0x10FEF1U) {
    const auto bits = static_cast<std::uint32_t>(address);
    const std::string text =
        fmt::format("{}.{}.{}.{}", bits >> 24U, bits >> 16U & 255U, bits >> 8U & 255U, bits & 255U);
    ASSERT_EQ(ipv4_from(text), bits) << text;
  }
}

TEST(AddressKind, ChangesExactlyAtTheBordersOfEachBlock) {
  using enum AddressKind;
  struct Range {
    std::string_view first, last;
    AddressKind kind, before, after;
  };
  constexpr Range kRanges[] = {
      {"0.0.0.0", "0.255.255.255", forbidden, forbidden, public_},
      {"10.0.0.0", "10.255.255.255", private_, public_, public_},
      {"100.64.0.0", "100.100.100.199", private_, public_, forbidden},
      {"100.100.100.200", "100.100.100.200", forbidden, private_, private_},
      {"100.100.100.201", "100.127.255.255", private_, forbidden, public_},
      {"127.0.0.0", "127.255.255.255", forbidden, public_, public_},
      {"168.63.129.16", "168.63.129.16", forbidden, public_, public_},
      {"169.254.0.0", "169.254.255.255", forbidden, public_, public_},
      {"172.16.0.0", "172.31.255.255", private_, public_, public_},
      {"192.0.0.0", "192.0.0.255", forbidden, public_, public_},
      {"192.0.2.0", "192.0.2.255", forbidden, public_, public_},
      {"192.88.99.0", "192.88.99.255", forbidden, public_, public_},
      {"192.168.0.0", "192.168.255.255", private_, public_, public_},
      {"198.18.0.0", "198.19.255.255", forbidden, public_, public_},
      {"198.51.100.0", "198.51.100.255", forbidden, public_, public_},
      {"203.0.113.0", "203.0.113.255", forbidden, public_, public_},
      {"224.0.0.0", "255.255.255.255", forbidden, public_, forbidden},
  };
  for (const Range& range : kRanges) {
    const auto first = ipv4_from(range.first).value_or(0);
    const auto last = ipv4_from(range.last).value_or(0);
    EXPECT_EQ(kind_of(first), range.kind) << range.first;
    EXPECT_EQ(kind_of(last), range.kind) << range.last;
    EXPECT_EQ(kind_of(first + (last - first) / 2), range.kind) << range.first;
    if (first > 0) EXPECT_EQ(kind_of(first - 1), range.before) << range.first;
    if (last < 0xFFFFFFFFU) EXPECT_EQ(kind_of(last + 1), range.after) << range.last;
  }
}

TEST(HostPattern, KeepsWhatWasWritten) {
  struct Row {
    std::string_view text, name;
    bool wildcard;
  };
  constexpr Row kRows[] = {
      {"api.example.com", "api.example.com", false},
      {"*.example.com", "example.com", true},
      {"*.a.b.example", "a.b.example", true},
      {"93.184.216.34", "93.184.216.34", false},
      {"10.0.0.1", "10.0.0.1", false},
      {"github.io", "github.io", false},
      {"*.acme.github.io", "acme.github.io", true},
      {"com", "com", false},
  };
  for (const Row& row : kRows) {
    const auto pattern = parse_host_pattern(row.text);
    ASSERT_TRUE(pattern) << row.text << ": " << pattern.error().text();
    EXPECT_EQ(pattern->name, row.name);
    EXPECT_EQ(pattern->wildcard, row.wildcard);
    EXPECT_EQ(pattern->address.has_value(), ipv4_from(row.text).has_value());
    EXPECT_EQ(to_string(*pattern), row.text);
  }
}

TEST(HostPattern, NamesBlocksOfAddresses) {
  struct Row {
    std::string_view text, first;
    std::uint8_t bits;
    AddressKind kind;
  };
  constexpr Row kRows[] = {
      {"93.184.216.0/24", "93.184.216.0", 24, AddressKind::public_},
      {"93.184.216.34/31", "93.184.216.34", 31, AddressKind::public_},
      {"10.0.0.0/8", "10.0.0.0", 8, AddressKind::private_},
      {"192.168.4.0/22", "192.168.4.0", 22, AddressKind::private_},
      // With an address of metadata among them, which stays out of reach.
      {"100.64.0.0/10", "100.64.0.0", 10, AddressKind::private_},
      {"100.100.100.200/31", "100.100.100.200", 31, AddressKind::private_},
      {"168.0.0.0/8", "168.0.0.0", 8, AddressKind::public_},
  };
  for (const Row& row : kRows) {
    const auto pattern = parse_host_pattern(row.text);
    ASSERT_TRUE(pattern) << row.text << ": " << pattern.error().text();
    EXPECT_TRUE(pattern->is_block());
    EXPECT_EQ(pattern->address, ipv4_from(row.first)) << row.text;
    EXPECT_EQ(pattern->bits, row.bits);
    EXPECT_EQ(kind_of(*pattern), row.kind) << row.text;
    EXPECT_EQ(to_string(*pattern), row.text);
  }
}

TEST(HostPattern, RefusesBlocksThatCannotBeMeant) {
  struct Row {
    std::string_view text, why;
  };
  constexpr Row kRows[] = {
      {"0.0.0.0/0", "too wide: use network.mode"},
      {"8.0.0.0/7", "at least 8 fixed bits"},
      {"93.184.216.34/24", "write 93.184.216.0/24"},
      {"93.184.216.34/32", "without /32"},
      {"93.184.216.0/33", "is no block of addresses"},
      {"93.184.216.0/024", "is no block of addresses"},
      {"93.184.216.0/", "is no block of addresses"},
      {"93.184.216.0/24x", "is no block of addresses"},
      {"93.184.216.0/+24", "is no block of addresses"},
      {"93.184.216/24", "write only its host"},
      {"https://example.com", "is a URL; write only its host"},
      {"example.com/24", "is a URL; write only its host"},
      {"127.0.0.0/8", "can be reached by no rule"},
      {"169.254.169.0/24", "can be reached by no rule"},
      {"203.0.113.0/25", "can be reached by no rule"},
      {"172.0.0.0/8", "public and private"},
      {"192.0.0.0/8", "public and private"},
  };
  for (const Row& row : kRows) {
    const auto pattern = parse_host_pattern(row.text);
    ASSERT_FALSE(pattern) << row.text;
    EXPECT_NE(pattern.error().text().find(row.why), std::string::npos)
        << row.text << ": " << pattern.error().text();
  }
}

TEST(HostPattern, RefusesWideAndOddSpellings) {
  for (const std::string_view bad : {"",
                                     "*",
                                     "**",
                                     "*.*",
                                     "*.",
                                     ".",
                                     "*.com",
                                     "*.internal",
                                     "*.co.uk",
                                     "*.github.io",
                                     "*.amazonaws.com",
                                     "*.workers.dev",
                                     "*a.example",
                                     "a*.example",
                                     "a.*.example",
                                     "*.*.example.com",
                                     "A.example",
                                     "*.Example.com",
                                     "a.example.",
                                     "*.example.com.",
                                     "b\xC3\xBC.example",
                                     "http://a.example",
                                     "a.example/x",
                                     "//a",
                                     "a.example:443",
                                     "a:b:c",
                                     "[::1]",
                                     "::1",
                                     "u@a.example",
                                     "a_b.example",
                                     "-a.example",
                                     "127.0.0.1",
                                     "127.1",
                                     "0x7f.1",
                                     "2130706433",
                                     "169.254.169.254",
                                     "0.0.0.0",
                                     "255.255.255.255",
                                     "198.18.0.1",
                                     "*.0.0.1",
                                     "*.10.0.0.1",
                                     "localhost",
                                     "a.localhost",
                                     "*.localhost",
                                     "host.cordon.internal",
                                     "*.cordon.internal",
                                     "*.host.cordon.internal",
                                     "a b",
                                     "a\tb"}) {
    EXPECT_FALSE(parse_host_pattern(bad)) << bad;
  }
}

}  // namespace
}  // namespace cordon::policy
