// SPDX-License-Identifier: Apache-2.0
#include "http/authority.h"

#include <algorithm>

#include <fmt/format.h>

#include "http/characters.h"
#include "os/ip_address.h"

namespace cordon::http {
namespace {

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestLabel = 63;

Error bad_host(std::string_view why) { return {Errc::invalid, std::string{why}}; }

Status check_label(std::string_view label) {
  if (label.empty()) return bad_host("a label of the host is empty");
  if (label.size() > kLongestLabel)
    return bad_host("a label of the host has more than 63 characters");
  const bool plain =
      std::ranges::all_of(label, [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
  if (!plain) return bad_host("a host has letters, digits, hyphens and dots only");
  if (label.front() == '-' || label.back() == '-')
    return bad_host("a label of the host begins or ends with a hyphen");
  return {};
}

Status check_name(std::string_view name) {
  if (name.size() > kLongestName) return bad_host("the host has more than 253 characters");
  std::string_view label;
  for (std::size_t start = 0; start <= name.size();) {
    const auto end = std::min(name.find('.', start), name.size());
    label = name.substr(start, end - start);
    TRY_DO(check_label(label));
    start = end + 1;
  }
  // "127.1", "0x7f000001", "2130706433": resolvers read these as addresses.
  if (std::ranges::all_of(label, is_digit) || label.starts_with("0x") || label.starts_with("0X"))
    return bad_host("the host is an odd spelling of an address");
  return {};
}

Result<std::string> parse_host(std::string_view text) {
  if (text.empty()) return bad_host("the host is empty");
  const bool quad = std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; }) &&
                    os::IpAddress::parse(std::string{text});
  if (quad) return std::string{text};
  if (text.ends_with('.')) text.remove_suffix(1);
  TRY_DO(check_name(text));
  std::string name{text};
  std::ranges::transform(name, name.begin(), lower);
  return name;
}

Result<std::string> parse_bracketed(std::string_view text) {
  const bool plain =
      std::ranges::all_of(text, [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; });
  if (!plain || text.find(':') == std::string_view::npos)
    return bad_host("between brackets stands no IPv6 address");
  const auto address = os::IpAddress::parse(std::string{text});
  if (!address) return bad_host("between brackets stands no IPv6 address");
  return address->text();
}

Result<std::uint16_t> parse_port(std::string_view text) {
  const bool plain = !text.empty() && text.size() <= 5 && std::ranges::all_of(text, is_digit) &&
                     text.front() != '0';
  unsigned port = 0;
  for (const char c : plain ? text : std::string_view{})
    port = port * 10 + static_cast<unsigned>(c - '0');
  if (port == 0 || port > 65535) return bad_host("the port is no number from 1 to 65535");
  return static_cast<std::uint16_t>(port);
}

}  // namespace

Result<Authority> parse_authority(std::string_view text) {
  if (text.find('@') != std::string_view::npos) return bad_host("a user name before the host");
  Authority authority;
  std::string_view rest;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return bad_host("a bracket that is not closed");
    TRY(authority.host, parse_bracketed(text.substr(1, close - 1)));
    rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return bad_host("text after the bracket");
  } else {
    const auto colon = std::min(text.find(':'), text.size());
    TRY(authority.host, parse_host(text.substr(0, colon)));
    rest = text.substr(colon);
  }
  if (!rest.empty()) {
    TRY(authority.port, parse_port(rest.substr(1)));
  }
  return authority;
}

std::string to_string(const Authority& authority) {
  const bool brackets = authority.host.find(':') != std::string::npos;
  std::string text = brackets ? fmt::format("[{}]", authority.host) : authority.host;
  if (authority.port) text += fmt::format(":{}", *authority.port);
  return text;
}

}  // namespace cordon::http
