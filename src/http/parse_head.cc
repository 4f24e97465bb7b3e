// SPDX-License-Identifier: Apache-2.0
#include "http/parse_head.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "http/connection.h"
#include "http/field.h"
#include "http/refusal.h"
#include "http/target.h"

namespace cordon::http {
namespace {

constexpr std::size_t kUsualFields = 16;

Error refuse(std::size_t at, std::string_view rule, Errc code = Errc::invalid) {
  return refused(kInHead, at, rule, code);
}

Result<Version> parse_version(std::string_view text, std::size_t at) {
  if (text == "HTTP/1.1") return Version::http11;
  if (text == "HTTP/1.0") return Version::http10;
  const bool other = text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) &&
                     text[6] == '.' && is_digit(text[7]);
  return refuse(at, "the version is HTTP/1.1 or HTTP/1.0",
                other ? Errc::unavailable : Errc::invalid);
}

Status check_method(std::string_view method, bool connect) {
  const auto* const bad = std::ranges::find_if_not(method, std::cref(is_token_character));
  if (bad != method.end())
    return refuse(static_cast<std::size_t>(bad - method.begin()), "a character that no method has");
  if (method.empty()) return refuse(0, "a request begins with its method");
  // In any case: some servers do not mind it.
  if (same_name(method, "TRACE") || same_name(method, "TRACK"))
    return refuse(0, "TRACE and TRACK are not served", Errc::denied);
  if (same_name(method, "CONNECT") && (!connect || method != "CONNECT"))
    return refuse(0, "CONNECT is not served here", Errc::denied);
  return {};
}

Status check_room(const Fields& fields, const HeadLimits& limits, const Line& line) {
  if (fields.size() < limits.fields) return {};
  return refuse(line.at, fmt::format("more than {} fields", limits.fields), Errc::exhausted);
}

// Few, because each name is looked for in all fields.
Status check_connection(const FieldView& field, const Fields& before) {
  constexpr std::size_t kMost = 4;
  if (!same_name(field.name, "connection")) return {};
  if (!is_option_list(field.value))
    return refuse(field.value_at, "Connection is a list of at most 32 names");
  if (count(before, "connection") == kMost)
    return refuse(field.at, "more than 4 Connection fields", Errc::exhausted);
  return {};
}

// Feeds line after line to `take`, which says whether it was the last.
template <class Take>
Result<Fed> feed_lines(LineCutter& lines, std::string_view bytes, Take take) {
  const std::size_t size = bytes.size();
  while (true) {
    TRY(const auto line, lines.next(bytes));
    if (!line) return Fed{.consumed = size};
    TRY(const bool last, take(*line));
    if (last) return Fed{.consumed = size - bytes.size(), .done = true};
  }
}

}  // namespace

Result<Fed> RequestReader::feed(std::string_view bytes) {
  assert(!is_over_);
  auto fed = feed_lines(lines_, bytes, [this](const Line& line) -> Result<bool> {
    const bool first = !std::exchange(is_begun_, true);
    const bool last = !first && line.text.empty();
    TRY_DO(first ? read_first(line) : last ? finish(line) : read_field(line));
    return last;
  });
  is_over_ = !fed || fed->done;
  return fed;
}

Status RequestReader::read_first(const Line& line) {
  const std::string_view text = line.text;
  const auto first = std::min(text.find(' '), text.size());
  TRY_DO(check_method(text.substr(0, first), rules_.connect));
  const auto second = text.find(' ', first + 1);
  if (first == text.size() || second == std::string_view::npos)
    return refuse(text.size(), "a request line has a method, a target and a version");
  if (const auto third = text.find(' ', second + 1); third != std::string_view::npos)
    return refuse(third, "a third space in the request line");
  TRY(head_.version, parse_version(text.substr(second + 1), second + 1));
  const std::string_view target = text.substr(first + 1, second - first - 1);
  if (target.size() > rules_.limits.target) {
    return refuse(first + 1 + rules_.limits.target,
                  fmt::format("a target of more than {} bytes", rules_.limits.target),
                  Errc::exhausted);
  }
  head_.fields.reserve(kUsualFields);
  head_.method = text.substr(0, first);
  TRY(head_.target, parse_target(head_.method, target, first + 1));
  return {};
}

Status RequestReader::read_host(const FieldView& field) {
  if (std::exchange(has_host_, true)) return refuse(field.at, "a second Host");
  auto host = parse_authority(field.value);
  if (!host) return refuse(field.value_at, host.error().text());
  head_.host = *std::move(host);
  if (!agrees(head_.host, head_.target))
    return refuse(field.value_at, "Host and the target name different servers");
  return {};
}

Status RequestReader::read_field(const Line& line) {
  TRY(const FieldView field, parse_field(line, kInHead, Alphabet::ascii));
  TRY(const bool announces, take_announced(field, head_.version, head_.announced));
  if (announces) {
    if (head_.method == "CONNECT") return refuse(field.at, "CONNECT has no body");
    return {};
  }
  if (same_name(field.name, "host")) return read_host(field);
  TRY_DO(check_connection(field, head_.fields));
  if (same_name(field.name, "expect")) {
    if (!same_name(field.value, "100-continue"))
      return refuse(field.value_at, "Expect is `100-continue`");
    if (count(head_.fields, "expect") > 0) return refuse(field.at, "a second Expect");
  }
  TRY_DO(check_room(head_.fields, rules_.limits, line));
  head_.fields.push_back({.name = std::string{field.name}, .value = std::string{field.value}});
  return {};
}

Status RequestReader::finish(const Line& line) const {
  if (!has_host_) return refuse(line.at, "a request without Host");
  return {};
}

Result<Fed> ResponseReader::feed(std::string_view bytes) {
  assert(!is_over_);
  auto fed = feed_lines(lines_, bytes, [this](const Line& line) -> Result<bool> {
    const bool first = !std::exchange(is_begun_, true);
    const bool last = !first && line.text.empty();
    if (!last) {
      TRY_DO(first ? read_first(line) : read_field(line));
    }
    return last;
  });
  is_over_ = !fed || fed->done;
  return fed;
}

Status ResponseReader::read_first(const Line& line) {
  const std::string_view text = line.text;
  const auto space = std::min(text.find(' '), text.size());
  TRY(head_.version, parse_version(text.substr(0, space), 0));
  head_.fields.reserve(kUsualFields);
  const std::string_view rest = text.substr(std::min(space + 1, text.size()));
  const bool digits = rest.size() >= 3 && std::ranges::all_of(rest.substr(0, 3), is_digit);
  // The space before an empty reason is often left out.
  if (!digits || (rest.size() > 3 && rest[3] != ' '))
    return refuse(std::min(space + 1, text.size()), "a status is three digits");
  head_.status = (rest[0] - '0') * 100 + (rest[1] - '0') * 10 + (rest[2] - '0');
  if (head_.status < 100 || head_.status > 599)
    return refuse(space + 1, "a status is from 100 to 599");
  const auto* const bad = std::ranges::find_if_not(rest, std::cref(is_any_value));
  if (bad != rest.end()) {
    return refuse(space + 1 + static_cast<std::size_t>(bad - rest.begin()),
                  "a control character in the reason");
  }
  return {};
}

Status ResponseReader::read_field(const Line& line) {
  TRY(const FieldView field, parse_field(line, kInHead, Alphabet::any));
  TRY(const bool announces, take_announced(field, head_.version, head_.announced));
  if (announces) return {};
  TRY_DO(check_connection(field, head_.fields));
  TRY_DO(check_room(head_.fields, limits_, line));
  head_.fields.push_back({.name = std::string{field.name}, .value = std::string{field.value}});
  return {};
}

}  // namespace cordon::http
