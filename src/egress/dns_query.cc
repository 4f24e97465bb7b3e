// SPDX-License-Identifier: Apache-2.0
// glibc's parser walks the message; what is stricter than DNS stands here.
#include "egress/dns_query.h"

#include <algorithm>
#include <arpa/nameser.h>
#include <array>

#include "policy/host.h"

namespace cordon::egress {
namespace {

constexpr std::size_t kHeader = NS_HFIXEDSZ;

using RefusedQuery = std::unexpected<DnsRefusal>;

// The header's fields, read before anything is believed: a refusal repeats them.
class Header {
 public:
  explicit Header(std::span<const std::byte> message) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_.at(i) = static_cast<std::uint16_t>(std::to_integer<unsigned>(message[2 * i]) << 8U |
                                                std::to_integer<unsigned>(message[2 * i + 1]));
    }
  }
  std::uint16_t id() const { return words_[0]; }
  bool is_answer() const { return (words_[1] & 0x8000U) != 0; }
  std::uint8_t opcode() const { return (words_[1] >> 11U) & 0xFU; }
  bool truncated() const { return (words_[1] & 0x0200U) != 0; }
  bool recursion_desired() const { return (words_[1] & 0x0100U) != 0; }
  std::uint16_t questions() const { return words_[2]; }
  std::uint16_t answers() const { return words_[3]; }
  std::uint16_t authorities() const { return words_[4]; }
  std::uint16_t additional() const { return words_[5]; }

  RefusedQuery refuse(DnsFault fault, std::string why) const {
    return RefusedQuery{DnsRefusal{.fault = fault,
                                   .why = std::move(why),
                                   .id = id(),
                                   .opcode = opcode(),
                                   .recursion_desired = recursion_desired()}};
  }

 private:
  std::array<std::uint16_t, 6> words_{};
};

// The labels of a name as it stands on the wire, joined by dots and in lower case; nothing where
// that is no host name. A dot or a NUL inside a label cannot pass for anything else: neither is a
// character of a host name, and each label is looked at by itself.
std::optional<std::string> host_name(std::span<const unsigned char> wire) {
  std::string name;
  while (!wire.empty() && wire.front() != 0) {
    const auto label = wire.subspan(1, wire.front());
    wire = wire.subspan(1 + label.size());
    if (!name.empty()) name += '.';
    for (const unsigned char c : label) {
      if (c == '.') return std::nullopt;
      name += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
  }
  if (!policy::is_canonical_name(name)) return std::nullopt;
  return name;
}

// Each option is a code, a length and as many bytes, to the very end.
bool has_whole_options(std::span<const unsigned char> data) {
  while (!data.empty()) {
    if (data.size() < 4) return false;
    const std::size_t length = std::size_t{data[2]} << 8U | data[3];
    if (data.size() - 4 < length) return false;
    data = data.subspan(4 + length);
  }
  return true;
}

std::expected<Edns, DnsRefusal> read_edns(const Header& header, const ns_rr& record) {
  if (ns_rr_type(record) != ns_t_opt)
    return header.refuse(DnsFault::malformed, "a record beside the question");
  if (!has_whole_options({ns_rr_rdata(record), static_cast<std::size_t>(ns_rr_rdlen(record))}))
    return header.refuse(DnsFault::malformed, "an EDNS option longer than its record");
  const std::uint32_t ttl = ns_rr_ttl(record);
  if ((ttl >> 24U) != 0) return header.refuse(DnsFault::malformed, "a query with a result code");
  if (((ttl >> 16U) & 0xFFU) != 0)
    return header.refuse(DnsFault::other_edns, "a version of EDNS other than 0");
  const auto payload = static_cast<std::uint16_t>(ns_rr_class(record));
  return Edns{.payload = std::max<std::uint16_t>(payload, 512), .dnssec_ok = (ttl & 0x8000U) != 0};
}

std::optional<RefusedQuery> refuse_header(const Header& header) {
  if (header.is_answer()) return header.refuse(DnsFault::no_query, "an answer");
  if (header.opcode() != ns_o_query)
    return header.refuse(DnsFault::other_opcode, "an operation other than a query");
  if (header.truncated()) return header.refuse(DnsFault::malformed, "a truncated query");
  if (header.questions() != 1)
    return header.refuse(DnsFault::malformed, "not exactly one question");
  if (header.answers() != 0 || header.authorities() != 0)
    return header.refuse(DnsFault::malformed, "a query that brings answers");
  if (header.additional() > 1)
    return header.refuse(DnsFault::malformed, "more than one record beside the question");
  return std::nullopt;
}

}  // namespace

std::expected<DnsQuery, DnsRefusal> parse_query(std::span<const std::byte> message,
                                                DnsTransport transport) {
  if (message.size() < kHeader) return RefusedQuery{DnsRefusal{.why = "shorter than a header"}};
  const Header header{message};
  if (auto refused = refuse_header(header)) return *std::move(refused);
  const bool by_tcp = transport == DnsTransport::tcp;
  if (message.size() > (by_tcp ? kLongestDnsQueryByTcp : kLongestDnsQuery))
    return header.refuse(DnsFault::malformed, "a query longer than any that we answer");

  const auto* const data = reinterpret_cast<const unsigned char*>(message.data());
  ns_msg parsed{};
  ns_rr record{};
  if (::ns_initparse(data, static_cast<int>(message.size()), &parsed) != 0 ||
      ::ns_parserr(&parsed, ns_s_qd, 0, &record) != 0) {
    return header.refuse(DnsFault::malformed, "lengths that do not fit");
  }

  // The name without pointers is the name as it stands there: otherwise it had some.
  std::array<unsigned char, NS_MAXCDNAME> name{};
  const auto rest = std::span{data, message.size()}.subspan(kHeader);
  const int used =
      ::ns_name_unpack(data, data + message.size(), rest.data(), name.data(), name.size());
  if (used <= 0 || !std::ranges::equal(std::span{name}.first(static_cast<std::size_t>(used)),
                                       rest.first(static_cast<std::size_t>(used)))) {
    return header.refuse(DnsFault::malformed, "a compressed name in the question");
  }
  const auto length = static_cast<std::size_t>(used);
  if (rest.size() < length + NS_QFIXEDSZ)
    return header.refuse(DnsFault::malformed, "lengths that do not fit");

  DnsQuery query{.id = header.id(),
                 .name = host_name(std::span{name}.first(length)),
                 .type = static_cast<std::uint16_t>(ns_rr_type(record)),
                 .in_class = static_cast<std::uint16_t>(ns_rr_class(record)),
                 .recursion_desired = header.recursion_desired(),
                 .transport = transport};
  const auto question = message.subspan(kHeader, length + NS_QFIXEDSZ);
  query.question.assign(question.begin(), question.end());
  if (header.additional() == 1) {
    if (::ns_parserr(&parsed, ns_s_ar, 0, &record) != 0)
      return header.refuse(DnsFault::malformed, "lengths that do not fit");
    // The root in its one byte; a pointer to a root would do for glibc.
    if (message[kHeader + question.size()] != std::byte{0})
      return header.refuse(DnsFault::malformed, "a record beside the question, with a name");
    auto edns = read_edns(header, record);
    if (!edns) {
      edns.error().question = std::move(query.question);
      return RefusedQuery{std::move(edns).error()};
    }
    query.edns = *edns;
  }
  return query;
}

}  // namespace cordon::egress
