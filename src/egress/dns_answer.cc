// SPDX-License-Identifier: Apache-2.0
// Answers are few and small, so they are written field by field.
#include "egress/dns_answer.h"

#include <algorithm>
#include <concepts>
#include <string>

#include "base/bytes.h"
#include "base/utf8.h"

namespace cordon::egress {
namespace {

constexpr std::uint16_t kLargestByUdp = 1232;
constexpr std::uint16_t kLargestByTcp = 65535;

enum class Rcode : std::uint8_t {
  no_error = 0,
  malformed = 1,
  not_implemented = 4,
  refused = 5,
  bad_version = 16,  // of which the OPT record has the upper eight bits
};

class Message {
 public:
  template <std::unsigned_integral T>
  void put(T value) {
    for (unsigned shift = 8 * sizeof(T); shift > 0;) {
      shift -= 8;
      bytes_.push_back(static_cast<std::byte>(value >> shift & 0xFFU));
    }
  }
  void put(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

struct Counts {
  std::uint16_t questions = 0, answers = 0, additional = 0;
};

constexpr std::uint16_t kTruncated = 0x0200;

void put_header(Message& out, std::uint16_t id, std::uint16_t flags, Rcode rcode, Counts counts) {
  constexpr std::uint16_t kIsAnswer = 0x8000;
  constexpr std::uint16_t kRecursionAvailable = 0x0080;  // some clients warn where it is not
  out.put(id);
  out.put(static_cast<std::uint16_t>(kIsAnswer | kRecursionAvailable | flags |
                                     (static_cast<unsigned>(rcode) & 0xFU)));
  out.put(counts.questions);
  out.put(counts.answers);
  out.put(std::uint16_t{0});  // authorities
  out.put(counts.additional);
}

std::uint16_t repeated_flags(std::uint8_t opcode, bool recursion_desired) {
  return static_cast<std::uint16_t>(unsigned{opcode} << 11U | (recursion_desired ? 0x0100U : 0U));
}

void put_opt(Message& out, Rcode rcode, bool dnssec_ok, std::span<const std::byte> options) {
  constexpr std::uint16_t kOpt = 41;
  out.put(std::uint8_t{0});  // the root
  out.put(kOpt);
  out.put(kLargestByUdp);
  out.put(static_cast<std::uint8_t>(static_cast<unsigned>(rcode) >> 4U));
  out.put(std::uint8_t{0});  // the version of EDNS that we speak
  out.put(static_cast<std::uint16_t>(dnssec_ok ? 0x8000U : 0U));
  out.put(static_cast<std::uint16_t>(options.size()));
  out.put(options);
}

std::size_t largest(const DnsQuery& query) {
  if (query.transport == DnsTransport::tcp) return kLargestByTcp;
  return query.edns ? std::min(query.edns->payload, kLargestByUdp) : kLongestDnsQuery;
}

std::vector<std::byte> compose(const DnsQuery& query, Rcode rcode,
                               std::span<const std::byte> answers, std::size_t count,
                               std::span<const std::byte> options) {
  const std::size_t opt = query.edns ? 11 + options.size() : 0;
  const bool fits = 12 + query.question.size() + answers.size() + opt <= largest(query);
  const auto flags = repeated_flags(0, query.recursion_desired);
  Message out;
  put_header(out, query.id, fits ? flags : flags | kTruncated, rcode,
             {.questions = 1,
              .answers = static_cast<std::uint16_t>(fits ? count : 0),
              .additional = static_cast<std::uint16_t>(query.edns ? 1 : 0)});
  out.put(query.question);
  if (fits) out.put(answers);
  if (query.edns) put_opt(out, rcode, query.edns->dnssec_ok, options);
  return std::move(out).take();
}

// A person reads it, or a model: nothing that turns, hides or moves text.
std::string told(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const bool plain = character.length > 0 && !is_deceptive(character.code);
    const std::string_view next = plain ? text.substr(0, character.length) : "?";
    if (shown.size() + next.size() > kLongestDnsText) break;
    shown += next;
    text.remove_prefix(std::max<std::size_t>(character.length, 1));
  }
  return shown;
}

}  // namespace

DnsService service_of(const DnsQuery& query) noexcept {
  if (!query.name || query.in_class != kDnsInternet) return DnsService::refused;
  if (query.type == dns_type::kA) return DnsService::address;
  return query.type == dns_type::kAaaa ? DnsService::no_data : DnsService::refused;
}

std::vector<std::byte> answer_addresses(const DnsQuery& query, std::span<const std::uint32_t> ipv4,
                                        std::chrono::seconds ttl) {
  constexpr std::uint16_t kNameOfTheQuestion = 0xC00C;  // a pointer to byte 12
  Message answers;
  for (const std::uint32_t address : ipv4) {
    answers.put(kNameOfTheQuestion);
    answers.put(dns_type::kA);
    answers.put(kDnsInternet);
    answers.put(static_cast<std::uint32_t>(ttl.count()));
    answers.put(std::uint16_t{sizeof address});
    answers.put(address);
  }
  const auto bytes = std::move(answers).take();
  return compose(query, Rcode::no_error, bytes, ipv4.size(), {});
}

std::vector<std::byte> answer_no_data(const DnsQuery& query) {
  return compose(query, Rcode::no_error, {}, 0, {});
}

std::vector<std::byte> answer_refused(const DnsQuery& query, DnsExtendedError code,
                                      std::string_view why) {
  constexpr std::uint16_t kExtendedError = 15;  // the option's code
  const std::string text = told(why);
  Message options;
  options.put(kExtendedError);
  options.put(static_cast<std::uint16_t>(sizeof(std::uint16_t) + text.size()));
  options.put(static_cast<std::uint16_t>(code));
  options.put(as_bytes(text));
  const auto bytes = std::move(options).take();
  return compose(query, Rcode::refused, {}, 0, bytes);
}

std::optional<std::vector<std::byte>> answer_fault(const DnsRefusal& refusal) {
  if (refusal.fault == DnsFault::no_query) return std::nullopt;
  const bool version = refusal.fault == DnsFault::other_edns;
  const Rcode rcode = version                                   ? Rcode::bad_version
                      : refusal.fault == DnsFault::other_opcode ? Rcode::not_implemented
                                                                : Rcode::malformed;
  Message out;
  put_header(out, refusal.id, repeated_flags(refusal.opcode, refusal.recursion_desired), rcode,
             {.questions = static_cast<std::uint16_t>(refusal.question.empty() ? 0 : 1),
              .additional = static_cast<std::uint16_t>(version ? 1 : 0)});
  out.put(refusal.question);
  if (version) put_opt(out, rcode, false, {});
  return std::move(out).take();
}

}  // namespace cordon::egress
