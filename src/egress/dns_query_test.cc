// SPDX-License-Identifier: Apache-2.0
#include "egress/dns_query.h"

#include <array>
#include <functional>
#include <resolv.h>

#include <gtest/gtest.h>

#include "egress/dns_bytes_test.h"

namespace cordon::egress {
namespace {

std::optional<DnsFault> fault_of(const Raw& raw, DnsTransport transport = DnsTransport::udp) {
  const auto query = parse_query(raw.bytes(), transport);
  if (query) return std::nullopt;
  EXPECT_FALSE(query.error().why.empty());
  return query.error().fault;
}

std::optional<std::string> name_of(std::string wire) {
  Raw raw;
  raw.name = std::move(wire);
  const auto query = parse_query(raw.bytes(), DnsTransport::udp);
  EXPECT_TRUE(query) << query.error().why;
  return query ? query->name : std::nullopt;
}

TEST(DnsQuery, OfGlibcIsRead) {
  // As glibc 2.36 asks for pypi.org with edns0 and trust-ad.
  const auto query =
      parse_query(from_hex("33a2 0120 0001 0000 0000 0001 04 70797069 03 6f7267 00 0001 0001"
                           "00 0029 0200 00 00 0000 0000"),
                  DnsTransport::udp);
  ASSERT_TRUE(query) << query.error().why;
  EXPECT_EQ(*query, (DnsQuery{.id = 0x33A2,
                              .name = "pypi.org",
                              .type = dns_type::kA,
                              .in_class = kDnsInternet,
                              .recursion_desired = true,
                              .edns = Edns{.payload = 512, .dnssec_ok = false},
                              .transport = DnsTransport::udp,
                              .question = from_hex("04 70797069 03 6f7267 00 0001 0001")}));
}

TEST(DnsQuery, OfCAresIsRead) {
  // As node 20 asks for api.example.com.
  const auto query =
      parse_query(from_hex("52f9 0100 0001 0000 0000 0000 03 617069 07 6578616d706c65"
                           "03 636f6d 00 001c 0001"),
                  DnsTransport::udp);
  ASSERT_TRUE(query) << query.error().why;
  EXPECT_EQ(query->name, "api.example.com");
  EXPECT_EQ(query->type, dns_type::kAaaa);
  EXPECT_FALSE(query->edns);
}

TEST(DnsQuery, OfEveryTypeIsReadAsAResolverWritesIt) {
  for (int type = 1; type < 300; ++type) {
    std::array<unsigned char, 512> buffer{};
    const int size = ::res_mkquery(ns_o_query, "a.example", ns_c_in, type, nullptr, 0, nullptr,
                                   buffer.data(), buffer.size());
    ASSERT_GT(size, 0) << type;
    const auto query = parse_query(
        std::as_bytes(std::span{buffer}.first(static_cast<std::size_t>(size))), DnsTransport::tcp);
    ASSERT_TRUE(query) << type << ": " << query.error().why;
    EXPECT_EQ(query->type, type);
    EXPECT_EQ(query->name, "a.example");
  }
}

TEST(DnsQuery, HasItsNameInLowerCaseAndItsQuestionAsItCame) {
  Raw raw;
  raw.name = wire_name("aPi.EXAMPLE.com");
  const auto query = parse_query(raw.bytes(), DnsTransport::udp);
  ASSERT_TRUE(query);
  EXPECT_EQ(query->name, "api.example.com");
  const std::string as_it_came = raw.name + raw.fixed;
  EXPECT_EQ(to_hex(query->question), to_hex(as_bytes(as_it_came)));
}

TEST(DnsQuery, HasNoNameWhereItsNameIsNoHosts) {
  EXPECT_EQ(name_of(wire_name("a-b.example")), "a-b.example");
  for (const std::string& odd :
       {wire_name(""), wire_name("_dmarc.example"), wire_name("-a.example"), wire_name("1.2.3.4"),
        wire_name("a.0x7f"), wire_name("b\xC3\xBC.example"), wire_name("a b.example"),
        wire_name("a\n.example"),
        std::string{"\x03"
                    "a.b\x03"
                    "com\0",
                    9},
        std::string{"\x04"
                    "ev\0l\x03"
                    "com\0",
                    10},
        wire_name("*.example.com")}) {
    EXPECT_EQ(name_of(odd), std::nullopt) << to_hex(as_bytes(odd));
  }
}

TEST(DnsQuery, MayHaveTheLongestNameAndNoLonger) {
  const std::string label(63, 'a');
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
  EXPECT_EQ(name_of(wire_name(longest)), longest);
  Raw raw;
  raw.name = wire_name(longest + "a");
  EXPECT_EQ(fault_of(raw), DnsFault::malformed);
  raw.name = std::string{'\x40'} + std::string(64, 'a') + '\0';  // a label of 64: reserved
  EXPECT_EQ(fault_of(raw), DnsFault::malformed);
}

TEST(DnsQuery, IsNotAnsweredWhereItIsShorterThanAHeaderOrAnAnswer) {
  const Bytes whole = Raw{}.bytes();
  for (std::size_t size = 0; size < 12; ++size) {
    const auto query = parse_query(std::span{whole}.first(size), DnsTransport::udp);
    ASSERT_FALSE(query);
    EXPECT_EQ(query.error().fault, DnsFault::no_query) << size;
  }
  Raw answer;
  answer.header[2] |= '\x80';
  EXPECT_EQ(fault_of(answer), DnsFault::no_query);
}

TEST(DnsQuery, CutAnywhereIsMalformed) {
  const Bytes whole = with_opt().bytes();
  ASSERT_TRUE(parse_query(whole, DnsTransport::udp));
  for (std::size_t size = 12; size < whole.size(); ++size) {
    const auto query = parse_query(std::span{whole}.first(size), DnsTransport::udp);
    ASSERT_FALSE(query) << size;
    EXPECT_EQ(query.error().fault, DnsFault::malformed) << size;
    EXPECT_EQ(query.error().id, 0x1234);
  }
}

struct Twist {
  std::string_view what;
  std::function<void(Raw&)> apply;
  std::optional<DnsFault> fault;
};

TEST(DnsQuery, IsStrict) {
  const auto at = [](std::size_t index, char value) {
    return [=](Raw& raw) { raw.header[index] = value; };
  };
  const auto rest = [](std::size_t index, char value) {
    return [=](Raw& raw) { raw.rest[index] = value; };
  };
  const Twist twists[] = {
      {"nothing", [](Raw&) {}, std::nullopt},
      {"no question", at(5, 0), DnsFault::malformed},
      {"two questions", at(5, 2), DnsFault::malformed},
      {"an answer record", at(7, 1), DnsFault::malformed},
      {"an authority record", at(9, 1), DnsFault::malformed},
      {"two additional records", at(11, 2), DnsFault::malformed},
      {"one additional record less than there is", at(11, 0), DnsFault::malformed},
      {"a trailing byte", [](Raw& raw) { raw.rest += '\0'; }, DnsFault::malformed},
      {"opcode STATUS", at(2, 0x10), DnsFault::other_opcode},
      {"opcode NOTIFY", at(2, 0x20), DnsFault::other_opcode},
      {"opcode UPDATE", at(2, 0x28), DnsFault::other_opcode},
      {"truncated", at(2, 0x02), DnsFault::malformed},
      {"no recursion desired", at(2, 0x00), std::nullopt},
      {"checking disabled", at(3, 0x10), std::nullopt},
      {"a pointer to itself", [](Raw& raw) { raw.name = "\xC0\x0C"; }, DnsFault::malformed},
      {"a pointer into the header", [](Raw& raw) { raw.name = std::string{"\xC0\x0A", 2}; },
       DnsFault::malformed},
      {"a label and a pointer",
       [](Raw& raw) {
         raw.name = std::string{
             "\x01"
             "a\xC0\x04",
             4};
       },
       DnsFault::malformed},
      {"a record other than OPT", rest(2, 0x01), DnsFault::malformed},
      {"OPT with a name", [](Raw& raw) { raw.rest = wire_name("a") + raw.rest.substr(1); },
       DnsFault::malformed},
      {"OPT with a pointer to a root",
       [](Raw& raw) { raw.rest = std::string{"\xC0\x1C", 2} + raw.rest.substr(1); },
       DnsFault::malformed},
      {"an EDNS version of the future", rest(6, 1), DnsFault::other_edns},
      {"an extended result code", rest(5, 1), DnsFault::malformed},
      {"a flag of EDNS that is not known", rest(7, 0x40), std::nullopt},
      {"an option that is whole",
       [](Raw& raw) {
         raw.rest[10] = 12;
         raw.rest += std::string{
             "\x00\x0A\x00\x08"
             "12345678",
             12};
       },
       std::nullopt},
      {"an option that is longer than its record",
       [](Raw& raw) {
         raw.rest[10] = 12;
         raw.rest += std::string{
             "\x00\x0A\x00\x09"
             "12345678",
             12};
       },
       DnsFault::malformed},
      {"an option that is cut",
       [](Raw& raw) {
         raw.rest[10] = 3;
         raw.rest += std::string{"\x00\x0A\x00", 3};
       },
       DnsFault::malformed},
  };
  for (const Twist& twist : twists) {
    Raw raw = with_opt();
    twist.apply(raw);
    EXPECT_EQ(fault_of(raw), twist.fault) << twist.what;
  }
}

TEST(DnsQuery, SaysWhatTheClientCanTake) {
  const auto edns_of = [](char high, char low, char flags) {
    Raw raw = with_opt();
    raw.rest[3] = high;
    raw.rest[4] = low;
    raw.rest[7] = flags;
    return parse_query(raw.bytes(), DnsTransport::udp).value().edns;
  };
  EXPECT_EQ(edns_of(0x10, 0x00, 0), (Edns{.payload = 4096, .dnssec_ok = false}));
  EXPECT_EQ(edns_of(0x02, 0x01, '\x80'), (Edns{.payload = 513, .dnssec_ok = true}));
  EXPECT_EQ(edns_of(0x00, 0x00, 0), (Edns{.payload = 512, .dnssec_ok = false}));
}

TEST(DnsQuery, IsBounded) {
  const auto padded = [](std::size_t size) {
    Raw raw = with_opt();
    const std::size_t option = size - raw.bytes().size() - 4;
    raw.rest[9] = static_cast<char>((option + 4) >> 8U);
    raw.rest[10] = static_cast<char>(option + 4);
    raw.rest += {'\0', '\x0C', static_cast<char>(option >> 8U), static_cast<char>(option)};
    raw.rest += std::string(option, '\0');
    EXPECT_EQ(raw.bytes().size(), size);
    return raw;
  };
  EXPECT_EQ(fault_of(padded(512)), std::nullopt);
  EXPECT_EQ(fault_of(padded(513)), DnsFault::malformed);
  EXPECT_EQ(fault_of(padded(4096), DnsTransport::tcp), std::nullopt);
  EXPECT_EQ(fault_of(padded(4097), DnsTransport::tcp), DnsFault::malformed);
}

}  // namespace
}  // namespace cordon::egress
