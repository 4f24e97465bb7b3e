// SPDX-License-Identifier: Apache-2.0
// Any text as a host: what is taken has one spelling, and the resolver reads it as the policy does.
#include <algorithm>
#include <arpa/inet.h>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/host.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

// As getaddrinfo() takes a number for an address: also "127.1", "0x7f.1" and "017700000001".
bool is_read_as_address(const std::string& host) {
  in_addr address{};
  return ::inet_aton(host.c_str(), &address) != 0;
}

void check_name(const std::string& host) {
  const bool plain = std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
  if (!plain) broken("a name has letters, digits, hyphens and dots");
  if (host.empty() || host.size() > 253) broken("a name has 1 to 253 characters");
  if (is_read_as_address(host)) broken("no resolver takes a name for an address");
  if (cordon::policy::ipv4_from(host)) broken("a name is no address");
}

void check_quad(const std::string& host, std::uint32_t quad) {
  in_addr strict{};
  if (::inet_pton(AF_INET, host.c_str(), &strict) != 1) broken("a quad is one to the C library");
  if (ntohl(strict.s_addr) != quad) broken("a quad is the same to the C library");
  in_addr lenient{};
  if (::inet_aton(host.c_str(), &lenient) == 0 || lenient.s_addr != strict.s_addr) {
    broken("a quad is the same in every reading");
  }
}

void check_pattern(std::string_view text, const cordon::policy::HostPattern& pattern) {
  using cordon::policy::AddressKind;
  if (to_string(pattern) != text) broken("a pattern has one spelling");
  if (pattern.is_block() && (!pattern.address || pattern.wildcard || pattern.bits < 8)) {
    broken("a block is one of addresses, and not too wide");
  }
  if (pattern.address && kind_of(pattern) == AddressKind::forbidden) {
    broken("no rule is made for what no rule reaches");
  }
  if (!pattern.address) check_name(pattern.name);
  if (pattern.wildcard && pattern.name.find('.') == std::string::npos) {
    broken("a wildcard has two labels behind it");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  // The C library's readers end at a zero, ours must not.
  const bool zero = text.find('\0') != std::string::npos;
  const bool name = cordon::policy::is_canonical_name(text);
  const auto quad = cordon::policy::ipv4_from(text);
  const auto pattern = cordon::policy::parse_host_pattern(text);
  if (zero && (name || quad || pattern)) broken("nothing goes on behind a zero");
  if (name) check_name(text);
  if (quad) check_quad(text, *quad);
  if (pattern) check_pattern(text, *pattern);
  return 0;
}
