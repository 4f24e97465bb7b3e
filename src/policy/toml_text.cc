// SPDX-License-Identifier: Apache-2.0
#include "policy/toml_text.h"

#include <algorithm>

namespace cordon::policy {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Over blanks, newlines and comments.
std::size_t behind_trivia(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text[at] == '#') {
      at = end_of_line(text, at);
    } else if (is_blank(text[at]) || text[at] == '\n' || text[at] == '\r') {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

std::size_t end_of_text(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool multiline = text.substr(at).starts_with(three);
  const std::string_view close = multiline ? std::string_view{three} : text.substr(at, 1);
  at += close.size();
  while (at < text.size() && !text.substr(at).starts_with(close)) {
    at += quote == '"' && text[at] == '\\' ? 2U : 1U;
  }
  at += close.size();
  // A multi-line text may end in quotes of its own.
  while (multiline && at < text.size() && text[at] == quote) ++at;
  return std::min(at, text.size());
}

// Keys of an inline table stand before their values.
std::size_t behind_key(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '=') {
    at = text[at] == '"' || text[at] == '\'' ? end_of_text(text, at) : at + 1;
  }
  return behind_trivia(text, std::min(at + 1, text.size()));
}

}  // namespace

std::size_t offset_of(std::string_view text, Mark mark) {
  std::size_t at = 0;
  for (std::uint32_t line = 1; line < mark.line && at < text.size(); ++line) {
    at = std::min(end_of_line(text, at) + 1, text.size());
  }
  for (std::uint32_t column = 1; column < mark.column && at < text.size(); ++column) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
  }
  return at;
}

std::size_t begin_of_line(std::string_view text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

std::size_t end_of_line(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

std::optional<std::string> indent_before(std::string_view text, std::size_t at) {
  const std::size_t begin = begin_of_line(text, at);
  const std::string_view before = text.substr(begin, at - begin);
  if (!std::ranges::all_of(before, is_blank)) return std::nullopt;
  return std::string{before};
}

std::size_t end_of_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return at;
  if (text[at] == '"' || text[at] == '\'') return end_of_text(text, at);
  if (text[at] == '[' || text[at] == '{') return inside_of(text, at).close + 1;
  return std::min(text.find_first_of(",]}# \t\r\n", at), text.size());
}

Inside inside_of(std::string_view text, std::size_t at) {
  const bool is_table = text[at] == '{';
  const char close = is_table ? '}' : ']';
  Inside found;
  at = behind_trivia(text, at + 1);
  while (at < text.size() && text[at] != close) {
    found.first = at;
    if (is_table) at = behind_key(text, at);
    found.last = end_of_value(text, at);
    found.comma.reset();
    at = behind_trivia(text, *found.last);
    if (at < text.size() && text[at] == ',') {
      found.comma = at;
      at = behind_trivia(text, at + 1);
    } else if (at < text.size() && text[at] != close) {
      break;  // no document: whoever edits it reads it again
    }
  }
  found.close = std::min(at, text.size() - 1);
  return found;
}

}  // namespace cordon::policy
