// SPDX-License-Identifier: Apache-2.0
// Names and addresses of hosts: one spelling of each, so that the string that is matched, resolved,
// sent as SNI and logged is the same string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::policy {

// Lower-case letters, digits and hyphens in labels of 1 to 63, at most 253 in all, no trailing dot,
// the last label not a number (that is an address in one of its odd spellings).
bool is_canonical_name(std::string_view host) noexcept;

// A dotted quad without leading zeros.
std::optional<std::uint32_t> ipv4_from(std::string_view host) noexcept;

enum class AddressKind : std::uint8_t {
  public_,
  private_,   // RFC 1918, shared (100.64/10): reachable only by a rule with addresses = "private"
  forbidden,  // loopback, link-local and metadata, multicast, reserved, test networks: by no rule
};
AddressKind kind_of(std::uint32_t ipv4) noexcept;

// "api.example.com", "*.example.com" (one or more labels more, never the name itself), a dotted
// quad, or a block of them: "93.184.0.0/16".
struct HostPattern {
  std::string name;  // without "*."; of a block with its length
  bool wildcard = false;
  std::optional<std::uint32_t> address;  // of a block the first
  std::uint8_t bits = 32;                // how many of them are fixed

  bool is_block() const noexcept { return bits < 32; }
  friend bool operator==(const HostPattern&, const HostPattern&) = default;
};
std::string to_string(const HostPattern& pattern);
// Before: it has an address. Of a block: what those of its addresses are that a rule can reach.
AddressKind kind_of(const HostPattern& pattern);

// Before: bits is 1 to 32.
constexpr bool is_in_block(std::uint32_t ipv4, std::uint32_t first, std::uint8_t bits) noexcept {
  return (ipv4 ^ first) >> (32U - bits) == 0;
}

// Refused: other spellings, `*`, wildcards over a whole public suffix (`*.com`, `*.co.uk`,
// `*.github.io`), blocks of more than a /8, and blocks of which nothing can be reached or that are
// public in part and private in part.
Result<HostPattern> parse_host_pattern(std::string_view text);

// The name under which a sandbox reaches ports of the host's loopback.
inline constexpr std::string_view kHostName = "host.cordon.internal";

}  // namespace cordon::policy
