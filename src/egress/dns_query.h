// SPDX-License-Identifier: Apache-2.0
// What a sandbox asks its DNS server. Strict: one question, one spelling of its name, nothing that
// a resolver of ours would have to believe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cordon::egress {

enum class DnsTransport : std::uint8_t { udp, tcp };

// No query that we can answer is longer; what is, is malformed.
inline constexpr std::size_t kLongestDnsQuery = 512;        // over UDP
inline constexpr std::size_t kLongestDnsQueryByTcp = 4096;  // without the length before it

// The OPT record of RFC 6891. Its options are checked for shape and otherwise ignored.
struct Edns {
  std::uint16_t payload = 512;  // what the client can take over UDP; never below 512
  bool dnssec_ok = false;

  friend bool operator==(const Edns&, const Edns&) = default;
};

namespace dns_type {
inline constexpr std::uint16_t kA = 1;
inline constexpr std::uint16_t kAaaa = 28;
}  // namespace dns_type
inline constexpr std::uint16_t kDnsInternet = 1;  // the class

struct DnsQuery {
  std::uint16_t id = 0;
  // In the one spelling of policy/host.h. Nothing: the question is no host's ("_dmarc.a.example",
  // the root, "1.2.3.4"); there is nothing to look up, and the answer is REFUSED.
  std::optional<std::string> name;
  std::uint16_t type = 0;
  std::uint16_t in_class = 0;
  bool recursion_desired = false;
  std::optional<Edns> edns;
  DnsTransport transport = DnsTransport::udp;
  // Name, type and class as they came, letters in the case the client chose: an answer must repeat
  // them to be believed.
  std::vector<std::byte> question;

  friend bool operator==(const DnsQuery&, const DnsQuery&) = default;
};

enum class DnsFault : std::uint8_t {
  no_query,      // shorter than a header, or itself an answer: not to be answered at all
  malformed,     // FORMERR
  other_opcode,  // NOTIMP
  other_edns,    // BADVERS: a version of EDNS that is not 0
};

// Why bytes are no query. All but the first two is of the bytes, for the answer; `question` only
// where it could be read.
struct DnsRefusal {
  DnsFault fault = DnsFault::no_query;
  std::string why;
  std::uint16_t id = 0;
  std::uint8_t opcode = 0;
  bool recursion_desired = false;
  std::vector<std::byte> question = {};

  friend bool operator==(const DnsRefusal&, const DnsRefusal&) = default;
};

// One message, without the length that stands before it on TCP.
std::expected<DnsQuery, DnsRefusal> parse_query(std::span<const std::byte> message,
                                                DnsTransport transport);

}  // namespace cordon::egress
