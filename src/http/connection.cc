// SPDX-License-Identifier: Apache-2.0
#include "http/connection.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "http/characters.h"

namespace cordon::http {
namespace {

// Calls `visit` with each element of the list, until it says false. Gives whether none did.
template <class Visit>
bool all_options(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (const auto option = trimmed(list.substr(0, comma)); !option.empty() && !visit(option))
      return false;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return true;
}

bool begins_with(std::string_view name, std::string_view prefix) noexcept {
  return same_name(name.substr(0, prefix.size()), prefix);
}

bool is_hop_by_hop(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 7> kNames{
      "connection", "keep-alive", "proxy", "te", "trailer", "upgrade", "http2-settings"};
  return begins_with(name, "proxy-") ||
         std::ranges::any_of(kNames, [&](auto known) { return same_name(name, known); });
}

bool is_protected(std::string_view name) noexcept {
  return begins_with(name, "content-") || same_name(name, "authorization") ||
         same_name(name, "cookie") || same_name(name, "expect");
}

}  // namespace

bool is_option_list(std::string_view value) noexcept {
  std::size_t left = 32;
  return all_options(value, [&](auto option) { return is_token(option) && left-- > 0; });
}

bool has_option(const Fields& fields, std::string_view option) noexcept {
  return std::ranges::any_of(fields, [&](const Field& field) {
    return same_name(field.name, "connection") &&
           !all_options(field.value, [&](auto listed) { return !same_name(listed, option); });
  });
}

bool keeps_alive(Version version, const Fields& fields) noexcept {
  if (has_option(fields, "close")) return false;
  return version == Version::http11 || has_option(fields, "keep-alive");
}

void strip_hop_by_hop(Fields& fields) {
  std::vector<std::string> named;
  for (const Field& field : fields) {
    if (!same_name(field.name, "connection")) continue;
    all_options(field.value, [&](auto option) {
      named.emplace_back(option);
      return true;
    });
  }
  std::erase_if(fields, [&](const Field& field) {
    return is_hop_by_hop(field.name) ||
           (!is_protected(field.name) && std::ranges::any_of(named, [&](const auto& option) {
             return same_name(field.name, option);
           }));
  });
}

}  // namespace cordon::http
