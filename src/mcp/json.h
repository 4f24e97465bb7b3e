// SPDX-License-Identifier: Apache-2.0
// One line of JSON as every reader reads it, or why readers may differ about it.
//
// Own, for the reason that policy/json_reader.cc gives, and because a tree for a filter needs the
// places of its parts: what is let through goes through as it came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::mcp {

enum class JsonKind : std::uint8_t { null, boolean, number, text, list, object };

struct JsonMember;

struct Json {
  JsonKind kind = JsonKind::null;
  std::size_t begin = 0;  // in the line, of its first byte and of the one behind its last
  std::size_t end = 0;
  std::string text;                 // what a text says, without escapes
  std::vector<Json> items;          // of a list
  std::vector<JsonMember> members;  // of an object, in their order

  bool is_object() const noexcept { return kind == JsonKind::object; }
  bool is_text() const noexcept { return kind == JsonKind::text; }
  // Null: it has no such member, or is no object.
  const Json* find(std::string_view key) const noexcept;
  // The text of that member; null: there is none, or it is none.
  const std::string* find_text(std::string_view key) const noexcept;
  // As it stands in the line that it was read from.
  std::string_view in(std::string_view line) const noexcept {
    return line.substr(begin, end - begin);
  }
};

struct JsonMember {
  std::string key;
  std::size_t begin = 0;  // of the quote before the key
  Json value;
};

inline constexpr int kDeepestLine = 64;
inline constexpr std::size_t kMostValues = std::size_t{1} << 17U;

// Whole numbers past 2^53 are exact in some readers and rounded in others. What a client sends is
// judged, and so must be one thing; what a server answers is shown.
enum class Numbers : std::uint8_t { exact, any };

struct ReadJson {
  Json top;
  bool is_whole = false;  // it is one JSON object: `top` holds it, even where it is refused
  std::string refused;    // why, half a sentence; empty: all readers read the same
};

// `line` is without its newline. Refused is what is not valid UTF-8, or not one object and blanks
// around it; a key that stands in its object twice, or that equals another but for case or escapes;
// NUL in a key; half a surrogate pair; a number that has no finite value, that is not 0 and too
// small to be told from it, or by `numbers`; more
// than kDeepestLine levels or kMostValues values.
ReadJson read_line(std::string_view line, Numbers numbers);

void append_utf8(std::string& text, char32_t code);
// `text`, which is UTF-8, in quotes: read again it is the same. (base/log.h has one for people,
// which shows controls as bytes.)
void append_json_text(std::string& out, std::string_view text);

}  // namespace cordon::mcp
