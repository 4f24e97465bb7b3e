// SPDX-License-Identifier: Apache-2.0
// Answers are read back by glibc's parser, which knows nothing of how they were written.
#include "egress/dns_answer.h"

#include <arpa/nameser.h>
#include <string>

#include <gtest/gtest.h>

#include "egress/dns_bytes_test.h"

namespace cordon::egress {
namespace {

using std::chrono::seconds;

DnsQuery asked(const Raw& raw, DnsTransport transport = DnsTransport::udp) {
  auto query = parse_query(raw.bytes(), transport);
  EXPECT_TRUE(query) << query.error().why;
  return *std::move(query);
}

// An answer as a client sees it.
struct SeenAnswer {
  int id = 0, rcode = 0, questions = 0;
  bool is_answer = false, truncated = false, recursion_desired = false;
  std::string question;
  std::vector<std::string> addresses;
  std::vector<std::uint32_t> ttls;
  bool has_opt = false;
  int version = 0, extended = 0;  // the OPT record's: version and upper bits of the result code
  std::string options;

  int whole_rcode() const { return extended << 4 | rcode; }
};

SeenAnswer seen(std::span<const std::byte> answer) {
  ns_msg message{};
  EXPECT_EQ(::ns_initparse(reinterpret_cast<const unsigned char*>(answer.data()),
                           static_cast<int>(answer.size()), &message),
            0)
      << to_hex(answer);
  SeenAnswer all{.id = ns_msg_id(message),
                 .rcode = ns_msg_getflag(message, ns_f_rcode),
                 .questions = ns_msg_count(message, ns_s_qd),
                 .is_answer = ns_msg_getflag(message, ns_f_qr) == 1,
                 .truncated = ns_msg_getflag(message, ns_f_tc) == 1,
                 .recursion_desired = ns_msg_getflag(message, ns_f_rd) == 1};
  ns_rr record{};
  if (all.questions == 1 && ::ns_parserr(&message, ns_s_qd, 0, &record) == 0)
    all.question = ns_rr_name(record);
  for (int i = 0; i < ns_msg_count(message, ns_s_an); ++i) {
    EXPECT_EQ(::ns_parserr(&message, ns_s_an, i, &record), 0);
    EXPECT_EQ(ns_rr_type(record), ns_t_a);
    EXPECT_EQ(ns_rr_rdlen(record), 4);
    EXPECT_EQ(std::string{ns_rr_name(record)}, all.question);
    all.addresses.push_back(to_hex(std::as_bytes(std::span{ns_rr_rdata(record), 4})));
    all.ttls.push_back(ns_rr_ttl(record));
  }
  EXPECT_EQ(ns_msg_count(message, ns_s_ns), 0);
  if (ns_msg_count(message, ns_s_ar) == 1) {
    EXPECT_EQ(::ns_parserr(&message, ns_s_ar, 0, &record), 0);
    EXPECT_EQ(ns_rr_type(record), ns_t_opt);
    all.has_opt = true;
    all.extended = static_cast<int>(ns_rr_ttl(record) >> 24U);
    all.version = static_cast<int>(ns_rr_ttl(record) >> 16U & 0xFFU);
    all.options.assign(reinterpret_cast<const char*>(ns_rr_rdata(record)), ns_rr_rdlen(record));
  }
  return all;
}

TEST(DnsAnswer, OfAnAddressIsByteForByteThis) {
  const std::uint32_t addresses[] = {0xC6120100};
  EXPECT_EQ(to_hex(answer_addresses(asked(Raw{}), addresses, seconds{60})),
            to_hex(from_hex("1234 8180 0001 0001 0000 0000"
                            "03 617069 07 6578616d706c65 03 636f6d 00 0001 0001"
                            "c00c 0001 0001 0000003c 0004 c6120100")));
}

TEST(DnsAnswer, RepeatsTheQuestionInTheLettersOfTheClient) {
  Raw raw;
  raw.name = wire_name("aPi.eXample.COM");
  raw.header[2] = 0;  // recursion not desired
  const std::uint32_t addresses[] = {0xC6120100, 0xC6120101};
  const SeenAnswer answer = seen(answer_addresses(asked(raw), addresses, seconds{5}));
  EXPECT_EQ(answer.id, 0x1234);
  EXPECT_TRUE(answer.is_answer);
  EXPECT_FALSE(answer.recursion_desired);
  EXPECT_EQ(answer.question, "aPi.eXample.COM");
  EXPECT_EQ(answer.addresses, (std::vector<std::string>{"c6120100", "c6120101"}));
  EXPECT_EQ(answer.ttls, (std::vector<std::uint32_t>{5, 5}));
  EXPECT_FALSE(answer.has_opt);
}

TEST(DnsAnswer, WithoutDataIsNoError) {
  const SeenAnswer answer = seen(answer_no_data(asked(with_opt())));
  EXPECT_EQ(answer.whole_rcode(), ns_r_noerror);
  EXPECT_TRUE(answer.addresses.empty());
  EXPECT_TRUE(answer.has_opt);
  EXPECT_TRUE(answer.options.empty());
}

TEST(DnsAnswer, ThatRefusesTellsWhyToThoseWhoSpeakEdns) {
  const std::string why = "cordon: evil.example is not allowed by policy (cordon.toml:18)";
  const SeenAnswer told =
      seen(answer_refused(asked(with_opt()), DnsExtendedError::prohibited, why));
  EXPECT_EQ(told.whole_rcode(), ns_r_refused);
  EXPECT_EQ(told.options.substr(0, 2), std::string("\x00\x0F", 2));
  EXPECT_EQ(static_cast<unsigned char>(told.options[3]), why.size() + 2);
  EXPECT_EQ(told.options.substr(4, 2), std::string("\x00\x12", 2));
  EXPECT_EQ(told.options.substr(6), why);

  const SeenAnswer plain = seen(answer_refused(asked(Raw{}), DnsExtendedError::prohibited, why));
  EXPECT_EQ(plain.rcode, ns_r_refused);
  EXPECT_FALSE(plain.has_opt);
}

TEST(DnsAnswer, TellsOnlyWhatAReaderCanSeeAndNoMoreThanFits) {
  const auto text_of = [](std::string_view why) {
    return seen(answer_refused(asked(with_opt()), DnsExtendedError::blocked, why))
        .options.substr(6);
  };
  EXPECT_EQ(text_of("a\x1B[31mb\n\xE2\x80\xAE"
                    "c\xFF"),
            "a?[31mb??c?");
  EXPECT_EQ(text_of(std::string(200, 'a')), std::string(200, 'a'));
  EXPECT_EQ(text_of(std::string(201, 'a')), std::string(200, 'a'));
  EXPECT_EQ(text_of(std::string(199, 'a') + "\xC3\xBC"),
            std::string(199, 'a'));  // never half a letter

  Raw raw = with_opt();
  raw.rest[3] = 2;
  raw.rest[4] = 0;  // 512 bytes
  const std::string label(63, 'a');
  raw.name = wire_name(label + "." + label + "." + label + "." + std::string(61, 'a'));
  const auto answer = answer_refused(asked(raw), DnsExtendedError::blocked, std::string(300, 'a'));
  EXPECT_LE(answer.size(), 512U);
  EXPECT_FALSE(seen(answer).truncated);
}

TEST(DnsAnswer, IsTruncatedWhereTheClientCannotTakeIt) {
  // A header, a question of 21 bytes, and 16 for each address.
  const std::vector<std::uint32_t> fit((512 - 12 - 21) / 16, 0xC6120100);
  std::vector<std::uint32_t> more = fit;
  more.push_back(0xC6120100);
  const DnsQuery udp = asked(Raw{});
  EXPECT_EQ(seen(answer_addresses(udp, fit, seconds{1})).addresses.size(), fit.size());
  EXPECT_FALSE(seen(answer_addresses(udp, fit, seconds{1})).truncated);
  const SeenAnswer cut = seen(answer_addresses(udp, more, seconds{1}));
  EXPECT_TRUE(cut.truncated);
  EXPECT_TRUE(cut.addresses.empty());
  EXPECT_EQ(cut.question, "api.example.com");

  const DnsQuery edns = asked(with_opt());  // 1,232 bytes
  EXPECT_FALSE(seen(answer_addresses(edns, more, seconds{1})).truncated);
  EXPECT_TRUE(seen(answer_addresses(edns, std::vector<std::uint32_t>(80), seconds{1})).truncated);
  Raw greedy = with_opt();
  greedy.rest[3] = '\xFF';
  EXPECT_TRUE(
      seen(answer_addresses(asked(greedy), std::vector<std::uint32_t>(80), seconds{1})).truncated);
  const DnsQuery tcp = asked(Raw{}, DnsTransport::tcp);
  EXPECT_EQ(
      seen(answer_addresses(tcp, std::vector<std::uint32_t>(80), seconds{1})).addresses.size(),
      80U);
}

TEST(DnsAnswer, ToAFaultSaysWhichItWas) {
  const auto answer_to = [](const Raw& raw) {
    const auto query = parse_query(raw.bytes(), DnsTransport::udp);
    EXPECT_FALSE(query);
    return answer_fault(query.error()).value_or(Bytes{});
  };
  Raw two = with_opt();
  two.header[5] = 2;
  const Bytes malformed = answer_to(two);
  EXPECT_EQ(to_hex(malformed), to_hex(from_hex("1234 8181 0000 0000 0000 0000")));

  Raw update = with_opt();
  update.header[2] = 0x28;
  const Bytes unknown = answer_to(update);
  EXPECT_EQ(to_hex(unknown), to_hex(from_hex("1234 a884 0000 0000 0000 0000")));  // UPDATE's too

  Raw future = with_opt();
  future.rest[6] = 7;
  const Bytes version = answer_to(future);
  EXPECT_EQ(seen(version).whole_rcode(), ns_r_badvers);
  EXPECT_EQ(seen(version).version, 0);
  EXPECT_EQ(seen(version).question, "api.example.com");

  Raw answer;
  answer.header[2] |= '\x80';
  EXPECT_TRUE(answer_to(answer).empty());  // not answered at all
}

TEST(DnsService, IsAnAddressForAAndNoDataForAaaaAndARefusalForAllElse) {
  for (unsigned type = 0; type <= 0xFFFF; ++type) {
    const DnsQuery query{
        .name = "a.example", .type = static_cast<std::uint16_t>(type), .in_class = kDnsInternet};
    const DnsService want = type == 1    ? DnsService::address
                            : type == 28 ? DnsService::no_data
                                         : DnsService::refused;
    ASSERT_EQ(service_of(query), want) << type;
  }
  EXPECT_EQ(service_of({.name = "a.example", .type = 1, .in_class = 3}), DnsService::refused);
  EXPECT_EQ(service_of({.name = "a.example", .type = 1, .in_class = 255}), DnsService::refused);
  EXPECT_EQ(service_of({.type = 1, .in_class = 1}), DnsService::refused);  // no host's name
}

}  // namespace
}  // namespace cordon::egress
