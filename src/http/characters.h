// SPDX-License-Identifier: Apache-2.0
// Which bytes may stand where in a head, and comparison that knows no case.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace cordon::http {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
// -1: no hexadecimal digit.
constexpr int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char small = lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// ASCII that prints, the space not among it.
constexpr bool is_visible(char c) noexcept { return c > ' ' && c < 0x7F; }

// A set of bytes, asked for each byte of a head.
class CharacterSet {
 public:
  template <class Has>
  constexpr explicit CharacterSet(Has has) noexcept {
    for (unsigned byte = 0; byte < 256; ++byte) has_[byte] = has(static_cast<char>(byte));
  }
  constexpr bool operator()(char c) const noexcept { return has_[static_cast<unsigned char>(c)]; }

 private:
  std::array<bool, 256> has_{};
};

// A character of a token (RFC 9110, 5.6.2): of methods and of names.
inline constexpr CharacterSet is_token_character{[](char c) {
  return is_digit(c) || is_letter(c) ||
         std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}};
constexpr bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, std::cref(is_token_character));
}

// Bytes of a field's value, by who wrote it. A request has ASCII only: servers that read a value as
// Latin-1 or Unicode find line ends and spaces above it. Answers carry file names in any encoding,
// and whom they could deceive is the client alone.
enum class Alphabet : bool { ascii, any };
inline constexpr CharacterSet is_ascii_value{
    [](char c) { return c == ' ' || c == '\t' || is_visible(c); }};
inline constexpr CharacterSet is_any_value{
    [](char c) { return is_ascii_value(c) || static_cast<unsigned char>(c) >= 0x80; }};
constexpr const CharacterSet& value_characters(Alphabet alphabet) noexcept {
  return alphabet == Alphabet::any ? is_any_value : is_ascii_value;
}

constexpr bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, lower, lower);
}

// As servers read names that turn them into variables: `-`, `_` and `.` are one.
constexpr char folded(char c) noexcept { return c == '_' || c == '.' ? '-' : lower(c); }
constexpr bool reads_as(std::string_view name, std::string_view wanted) noexcept {
  return std::ranges::equal(name, wanted, {}, folded, folded);
}

// `text` without the spaces and tabs around it.
constexpr std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace cordon::http
