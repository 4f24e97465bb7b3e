// SPDX-License-Identifier: Apache-2.0
#include "audit/query.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>

namespace cordon::audit {
namespace {

constexpr std::string_view kTimeField = "time_ms";

std::optional<std::uint64_t> number_from(std::string_view text) {
  std::uint64_t number = 0;
  const char* const begin = std::to_address(text.begin());
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

Error no_time(std::string_view text) {
  return {Errc::invalid, "`" + std::string{text} +
                             "` is no time; write 2026-11-17 or 2026-11-17T04:10:33, in UTC"};
}

// At most as many steps as the product of both lengths: only the last star is tried again.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t read = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resumed = 0;
  while (read < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resumed = read;
    } else if (at < pattern.size() && pattern[at] == text[read]) {
      ++at;
      ++read;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      read = ++resumed;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, 80)) shown += c >= ' ' && c < '\x7f' ? c : '?';
  return shown;
}

std::string names() {
  std::string all;
  for (const std::string& name : known_fields()) all.append(all.empty() ? "" : ", ").append(name);
  return all;
}

}  // namespace

Result<std::uint64_t> parse_time(std::string_view text) {
  std::string_view rest = text;
  if (rest.ends_with('Z') && rest.contains('T')) rest.remove_suffix(1);
  // The places of its numbers, and what stands before each.
  constexpr std::array<std::size_t, 6> kWidths{4, 2, 2, 2, 2, 2};
  constexpr std::string_view kBefore = " --T::";
  std::array<unsigned, 6> parts{};
  std::size_t count = 0;
  for (; count < parts.size() && !rest.empty(); ++count) {
    if (count > 0) {
      if (rest.front() != kBefore[count]) return no_time(printable(text));
      rest.remove_prefix(1);
    }
    const auto number = number_from(rest.substr(0, kWidths[count]));
    if (rest.size() < kWidths[count] || !number) return no_time(printable(text));
    parts[count] = static_cast<unsigned>(*number);
    rest.remove_prefix(kWidths[count]);
  }
  namespace ch = std::chrono;
  const ch::year_month_day day{ch::year{static_cast<int>(parts[0])}, ch::month{parts[1]},
                               ch::day{parts[2]}};
  const bool is_whole = rest.empty() && (count == 3 || count >= 5);
  if (!is_whole || !day.ok() || parts[0] < 1970 || parts[3] > 23 || parts[4] > 59 ||
      parts[5] > 59) {
    return no_time(printable(text));
  }
  const auto time =
      ch::sys_days{day} + ch::hours{parts[3]} + ch::minutes{parts[4]} + ch::seconds{parts[5]};
  return static_cast<std::uint64_t>(
      ch::duration_cast<ch::milliseconds>(time.time_since_epoch()).count());
}

Status Query::parse_values(Term& term, std::string_view text) {
  if (term.compare != Compare::equal) {
    if (term.field == kTimeField && text.contains('-')) {
      TRY(term.number, parse_time(text));
      return {};
    }
    const auto number = number_from(text);
    if (!number) {
      return Error{Errc::invalid, "`" + printable(text) + "` is no number that " + term.field +
                                      " can be compared with"};
    }
    term.number = *number;
    return {};
  }
  while (true) {
    const std::size_t comma = text.find(',');
    if (term.patterns.size() == kMostValues) {
      return Error{Errc::invalid,
                   "more than " + std::to_string(kMostValues) + " values of " + term.field};
    }
    term.patterns.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return {};
    text.remove_prefix(comma + 1);
  }
}

Result<Query::Term> Query::parse_term(std::string_view text) {
  if (text.size() > kLongestTerm) return Error{Errc::invalid, "a term is too long"};
  const std::string whole = printable(text);
  Term term;
  if (text.starts_with('!')) {
    term.is_negated = true;
    text.remove_prefix(1);
  }
  const std::size_t end = text.find_first_of("=!<>");
  if (end == std::string_view::npos || end == 0) {
    return Error{Errc::invalid, "`" + whole +
                                    "` is no term; write FIELD=VALUE, FIELD!=VALUE, or with a "
                                    "number < <= > >="};
  }
  term.field = text.substr(0, end) == "time" ? kTimeField : text.substr(0, end);
  if (std::ranges::find(known_fields(), term.field) == known_fields().end()) {
    return Error{Errc::invalid, "`" + printable(term.field) +
                                    "` is no field of a record; there are " + "time, " + names()};
  }
  text.remove_prefix(end);
  constexpr std::array<std::pair<std::string_view, Compare>, 6> kOperators{
      {{"!=", Compare::equal},
       {"<=", Compare::at_most},
       {">=", Compare::at_least},
       {"=", Compare::equal},
       {"<", Compare::below},
       {">", Compare::above}}};
  const auto* const found = std::ranges::find_if(
      kOperators, [&](const auto& each) { return text.starts_with(each.first); });
  if (found == kOperators.end()) {
    return Error{Errc::invalid, "`" + whole + "`: an operator is = != < <= > or >="};
  }
  if (found->first == "!=") term.is_negated = !term.is_negated;
  term.compare = found->second;
  text.remove_prefix(found->first.size());
  TRY_DO(parse_values(term, text));
  return term;
}

Result<Query> Query::parse(std::span<const std::string> terms) {
  if (terms.size() > kMostTerms) {
    return Error{Errc::invalid, "more than " + std::to_string(kMostTerms) + " terms"};
  }
  Query query;
  for (const std::string& text : terms) {
    TRY(Term term, parse_term(text));
    query.terms_.push_back(std::move(term));
  }
  return query;
}

bool Query::Term::accepts(const RecordField& found) const {
  const auto* const value = std::get_if<std::uint64_t>(&found.value);
  if (compare == Compare::equal) {
    const std::string text =
        value != nullptr ? std::to_string(*value) : std::get<std::string>(found.value);
    return std::ranges::any_of(patterns,
                               [&](const std::string& pattern) { return matches(pattern, text); });
  }
  if (value == nullptr) return false;
  switch (compare) {
    case Compare::below:
      return *value < number;
    case Compare::at_most:
      return *value <= number;
    case Compare::above:
      return *value > number;
    default:
      return *value >= number;
  }
}

bool Query::Term::accepts(std::span<const RecordField> fields) const {
  const bool holds = std::ranges::any_of(
      fields, [&](const RecordField& each) { return each.name == field && accepts(each); });
  return holds != is_negated;
}

bool Query::accepts(const Record& record) const {
  if (terms_.empty()) return true;
  const auto fields = fields_of(record);
  return std::ranges::all_of(terms_, [&](const Term& term) { return term.accepts(fields); });
}

}  // namespace cordon::audit
