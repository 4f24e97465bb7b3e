// SPDX-License-Identifier: Apache-2.0
// What our DNS server says: an address of ours, nothing, or a refusal that tells why.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "egress/dns_query.h"

namespace cordon::egress {

// How a question about an allowed name is served. Whoever asks about another name, or about no
// host's, is refused whatever the type.
enum class DnsService : std::uint8_t { address, no_data, refused };
DnsService service_of(const DnsQuery& query) noexcept;

// RFC 8914.
enum class DnsExtendedError : std::uint8_t {
  blocked = 15,        // on the list of refused names
  prohibited = 18,     // not on the list of allowed ones, or a budget is used up
  not_supported = 21,  // a type that is never served
};

// No text in a refusal is longer: with the longest name it still fits into 512 bytes.
inline constexpr std::size_t kLongestDnsText = 200;

// Every answer repeats the question and has an OPT record exactly where the query had one. Over UDP
// it is never longer than what the client can take, nor than 1,232 bytes, which pass every network
// whole; an answer that would be is empty and says that it is truncated, so that the client asks
// again over TCP.
// Before: 0 <= ttl < 2^31 seconds.
std::vector<std::byte> answer_addresses(const DnsQuery& query, std::span<const std::uint32_t> ipv4,
                                        std::chrono::seconds ttl);
// The name exists and has no record of this type.
std::vector<std::byte> answer_no_data(const DnsQuery& query);
// REFUSED; `why` reaches clients that speak EDNS, cut to its bound and made printable.
std::vector<std::byte> answer_refused(const DnsQuery& query, DnsExtendedError code,
                                      std::string_view why);

// Nothing: such bytes are not answered at all.
std::optional<std::vector<std::byte>> answer_fault(const DnsRefusal& refusal);

}  // namespace cordon::egress
