// SPDX-License-Identifier: Apache-2.0
#include "gate/query.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "http/characters.h"

namespace cordon::gate {
namespace {

constexpr std::size_t kMostNames = 32;

// `+` is itself: a path may have one, and forms are not what is sent here.
Result<std::string> resolved(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? http::hex_value(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? http::hex_value(text[at + 2]) : -1;
    if (high < 0 || low < 0 || (high == 0 && low == 0)) {
      return Error{Errc::invalid,
                   "query: a % is followed by two hexadecimal digits, and not by 00"};
    }
    plain += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return plain;
}

}  // namespace

Result<Query> read_query(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Error{Errc::invalid, "query: each part is NAME=VALUE"};
    }
    TRY(std::string name, resolved(part.substr(0, equals)));
    TRY(std::string value, resolved(part.substr(equals + 1)));
    if (query.size() >= kMostNames) return Error{Errc::invalid, "query: more than 32 names"};
    if (const auto [at, is_new] = query.emplace(std::move(name), std::move(value)); !is_new) {
      return Error{Errc::invalid, fmt::format("query: `{}` stands there twice", at->first)};
    }
  }
  return query;
}

Result<std::optional<std::uint64_t>> number_of(const Query& query, std::string_view name) {
  const auto found = query.find(name);
  if (found == query.end()) return std::optional<std::uint64_t>{};
  std::uint64_t value = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [stopped, error] = std::from_chars(found->second.data(), end, value);
  if (error != std::errc{} || stopped != end) {
    return Error{Errc::invalid, fmt::format("query: `{}` is a whole number from 0 on", name)};
  }
  return std::optional{value};
}

Status only_known(const Query& query, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : query) {
    if (std::ranges::find(known, name) == known.end()) {
      return Error{
          Errc::invalid,
          fmt::format("query: unknown name; known here: {}",
                      known.size() == 0 ? "none" : fmt::format("{}", fmt::join(known, ", ")))};
    }
  }
  return {};
}

namespace {

// One more time than a query is: the SDK encodes names and values by themselves before that.
Result<std::string> decoded(const std::string& text) {
  TRY(Query once, read_query("v=" + text));
  return std::move(once["v"]);
}

}  // namespace

Result<std::map<std::string, std::string>> wanted_metadata(const Query& query) {
  std::map<std::string, std::string> wanted;
  const auto found = query.find("metadata");
  if (found == query.end()) return wanted;
  TRY(const Query pairs, read_query(found->second));
  for (const auto& [name, value] : pairs) {
    TRY(std::string plain_name, decoded(name));
    TRY(std::string plain_value, decoded(value));
    wanted.emplace(std::move(plain_name), std::move(plain_value));
  }
  return wanted;
}

}  // namespace cordon::gate
