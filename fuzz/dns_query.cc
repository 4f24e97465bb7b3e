// SPDX-License-Identifier: Apache-2.0
// Any bytes as a DNS query (the first of them chooses UDP or TCP): a second reader of the same
// grammar agrees on what is one, and every answer to it is whole, short enough and repeats it.
#include "egress/dns_query.h"

#include <algorithm>
#include <arpa/nameser.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "egress/dns_answer.h"
#include "policy/host.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace egress = cordon::egress;

// What the second reader makes of a query: no glibc, one pass, nothing kept.
struct Modelled {
  std::size_t question = 0;  // bytes
  std::uint16_t type = 0, in_class = 0;
  std::optional<egress::Edns> edns;
};

class Walk {
 public:
  explicit Walk(std::span<const std::uint8_t> bytes) : rest_{bytes} {}
  std::optional<unsigned> number(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    unsigned value = 0;
    for (const std::uint8_t byte : rest_.first(size)) value = value << 8U | byte;
    rest_ = rest_.subspan(size);
    return value;
  }
  bool skip(std::size_t size) {
    if (rest_.size() < size) return false;
    rest_ = rest_.subspan(size);
    return true;
  }
  std::size_t left() const { return rest_.size(); }

 private:
  std::span<const std::uint8_t> rest_;
};

bool walk_name(Walk& walk) {
  std::size_t length = 0;
  while (true) {
    const auto label = walk.number(1);
    if (!label || *label > 63 || !walk.skip(*label)) return false;
    length += 1 + *label;
    if (length > 255) return false;
    if (*label == 0) return true;
  }
}

std::optional<egress::Edns> walk_opt(Walk& walk) {
  if (walk.number(1) != 0U || walk.number(2) != 41U) return std::nullopt;
  const auto payload = walk.number(2);
  if (walk.number(1) != 0U || walk.number(1) != 0U) return std::nullopt;
  const auto flags = walk.number(2);
  const auto length = walk.number(2);
  if (!length || !payload || !flags || walk.left() != *length) return std::nullopt;
  while (walk.left() > 0) {
    const auto code = walk.number(2);
    const auto size = walk.number(2);
    if (!code || !size || !walk.skip(*size)) return std::nullopt;
  }
  return egress::Edns{.payload = static_cast<std::uint16_t>(std::max(*payload, 512U)),
                      .dnssec_ok = *flags >= 0x8000U};
}

std::optional<Modelled> modelled(std::span<const std::uint8_t> bytes, std::size_t longest) {
  if (bytes.size() > longest || bytes.size() < 12) return std::nullopt;
  if ((bytes[2] & 0xFAU) != 0) return std::nullopt;  // an answer, another operation, truncated
  const std::uint8_t counts[] = {0, 1, 0, 0, 0, 0, 0};
  if (!std::equal(counts, counts + 7, bytes.begin() + 4) || bytes[11] > 1) return std::nullopt;
  Walk walk{bytes.subspan(12)};
  if (!walk_name(walk)) return std::nullopt;
  const auto type = walk.number(2);
  const auto in_class = walk.number(2);
  if (!type || !in_class) return std::nullopt;
  Modelled model{.question = bytes.size() - 12 - walk.left(),
                 .type = static_cast<std::uint16_t>(*type),
                 .in_class = static_cast<std::uint16_t>(*in_class)};
  if (bytes[11] == 1) {
    model.edns = walk_opt(walk);
    if (!model.edns) return std::nullopt;
  }
  if (walk.left() > 0) return std::nullopt;
  return model;
}

void check_answer(std::span<const std::byte> answer, std::span<const std::byte> question,
                  std::uint16_t id) {
  ns_msg message{};
  const auto* const data = reinterpret_cast<const unsigned char*>(answer.data());
  if (::ns_initparse(data, static_cast<int>(answer.size()), &message) != 0)
    broken("an answer is whole");
  if (ns_msg_id(message) != id || ns_msg_getflag(message, ns_f_qr) != 1)
    broken("an answer is one, to this query");
  if (!std::ranges::equal(answer.subspan(12).first(question.size()), question))
    broken("an answer repeats the question");
}

void check_query(const egress::DnsQuery& query, const Modelled& model,
                 std::span<const std::byte> bytes) {
  if (query.type != model.type || query.in_class != model.in_class || query.edns != model.edns)
    broken("both readers read the same");
  if (!std::ranges::equal(query.question, bytes.subspan(12, model.question)))
    broken("the question is kept as it came");
  if (query.name && !cordon::policy::is_canonical_name(*query.name)) broken("a name is canonical");
  if (query.name && query.name->size() + 2 != model.question - 4)
    broken("a name is as long as its labels");

  std::size_t longest = 65535;
  if (query.transport == egress::DnsTransport::udp)
    longest = query.edns ? std::min<std::size_t>(query.edns->payload, 1232) : 512;
  const std::vector<std::uint32_t> many(bytes.size() % 100, 0xC6120001);
  const std::string_view why{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  for (const auto& answer :
       {egress::answer_addresses(query, many, std::chrono::seconds{60}),
        egress::answer_no_data(query),
        egress::answer_refused(query, egress::DnsExtendedError::prohibited, why)}) {
    check_answer(answer, query.question, query.id);
    if (answer.size() > longest) broken("an answer is no longer than the client can take");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool tcp = (data[0] & 1U) != 0;
  const std::span message{data + 1, size - 1};
  const auto bytes = std::as_bytes(message);
  const auto query =
      egress::parse_query(bytes, tcp ? egress::DnsTransport::tcp : egress::DnsTransport::udp);
  const auto model = modelled(message, tcp ? 4096 : 512);
  if (query.has_value() != model.has_value()) broken("both readers agree on what is a query");
  if (query && model) {
    check_query(*query, *model, bytes);
  } else if (const auto answer = egress::answer_fault(query.error())) {
    check_answer(*answer, query.error().question, query.error().id);
  } else if (message.size() >= 12 && message[2] < 0x80) {
    broken("every query is answered");
  }
  return 0;
}
