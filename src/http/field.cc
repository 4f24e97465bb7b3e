// SPDX-License-Identifier: Apache-2.0
#include "http/field.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "http/refusal.h"

namespace cordon::http {
namespace {

constexpr std::string_view kLength = "content-length";
constexpr std::string_view kCoding = "transfer-encoding";

Status check_value(std::string_view value, std::size_t at, std::string_view where,
                   Alphabet alphabet) {
  const auto* const bad = std::ranges::find_if_not(value, std::cref(value_characters(alphabet)));
  if (bad == value.end()) return {};
  at += static_cast<std::size_t>(bad - value.begin());
  if (static_cast<unsigned char>(*bad) >= 0x80)
    return refused(where, at, "a value of a request is ASCII");
  return refused(where, at, "a control character in a value");
}

}  // namespace

Result<FieldView> parse_field(const Line& line, std::string_view where, Alphabet alphabet) {
  const std::string_view text = line.text;
  if (text.starts_with(' ') || text.starts_with('\t'))
    return refused(where, line.at, "a line that continues the one before it");
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return refused(where, line.at, "a field without a colon");
  const std::string_view name = text.substr(0, colon);
  if (name.empty()) return refused(where, line.at, "a field without a name");
  if (name.ends_with(' ') || name.ends_with('\t'))
    return refused(where, line.at + colon - 1, "a space before the colon");
  if (const auto* const bad = std::ranges::find_if_not(name, std::cref(is_token_character));
      bad != name.end()) {
    return refused(where, line.at + static_cast<std::size_t>(bad - name.begin()),
                   "a character that no name has");
  }
  const std::string_view raw = text.substr(colon + 1);
  TRY_DO(check_value(raw, line.at + colon + 1, where, alphabet));
  const std::string_view value = trimmed(raw);
  const auto value_at = static_cast<std::size_t>(value.data() - text.data());
  return FieldView{.name = name, .value = value, .at = line.at, .value_at = line.at + value_at};
}

Result<std::uint64_t> parse_length(std::string_view digits) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (digits.empty() || !std::ranges::all_of(digits, is_digit))
    return Error{Errc::invalid, "a length is digits alone"};
  if (digits.size() > 1 && digits.front() == '0')
    return Error{Errc::invalid, "a length has no needless zeros"};
  std::uint64_t length = 0;
  for (const char c : digits) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (length > (kMost - digit) / 10) return Error{Errc::invalid, "a length is less than 2^63"};
    length = length * 10 + digit;
  }
  return length;
}

Result<bool> take_announced(const FieldView& field, Version version, Announced& announced) {
  if (!is_framing_name(field.name)) return false;
  if (same_name(field.name, kLength)) {
    if (announced.length) return refused(kInHead, field.at, "a second Content-Length");
    if (announced.chunked)
      return refused(kInHead, field.at, "Content-Length beside Transfer-Encoding");
    const auto length = parse_length(field.value);
    if (!length) return refused(kInHead, field.value_at, length.error().text());
    announced.length = *length;
    return true;
  }
  if (same_name(field.name, kCoding)) {
    if (announced.chunked) return refused(kInHead, field.at, "a second Transfer-Encoding");
    if (announced.length)
      return refused(kInHead, field.at, "Transfer-Encoding beside Content-Length");
    if (version == Version::http10)
      return refused(kInHead, field.at, "Transfer-Encoding in HTTP/1.0");
    if (field.value != "chunked")
      return refused(kInHead, field.value_at, "Transfer-Encoding is exactly `chunked`");
    announced.chunked = true;
    return true;
  }
  return refused(kInHead, field.at,
                 "a name that could be taken for Content-Length or Transfer-Encoding");
}

bool is_framing_name(std::string_view name) noexcept {
  return reads_as(name, kLength) || reads_as(name, kCoding);
}

}  // namespace cordon::http
