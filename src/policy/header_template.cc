// SPDX-License-Identifier: Apache-2.0
#include "policy/header_template.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/text.h"

namespace cordon::policy {
namespace {

// Headers that say where a message ends or goes: a secret in one of them could redirect it.
constexpr std::string_view kFraming[] = {"connection", "content-length",    "expect",
                                         "host",       "keep-alive",        "te",
                                         "trailer",    "transfer-encoding", "upgrade"};

bool is_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

}  // namespace

Result<HeaderTemplate> parse_header_template(std::string_view text) {
  const auto colon = text.find(": ");
  const std::string_view name =
      colon == std::string_view::npos ? std::string_view{} : text.substr(0, colon);
  const bool token = !name.empty() && std::ranges::all_of(name, is_name);
  if (!token || text.substr(colon + 2).find(kSecretSlot) == std::string_view::npos) {
    return Error{
        Errc::invalid,
        fmt::format("{} must be \"Name: value\" with {{secret}} in the value", in_quotes(text))};
  }
  std::string lower{name};
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  if (lower.starts_with("proxy-") || std::ranges::find(kFraming, lower) != std::end(kFraming)) {
    return Error{Errc::invalid, fmt::format("{} says how or where a message travels; a secret has "
                                            "no place in it",
                                            in_quotes(name))};
  }
  return HeaderTemplate{std::string{name}, std::string{text.substr(colon + 2)}};
}

}  // namespace cordon::policy
