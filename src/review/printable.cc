// SPDX-License-Identifier: Apache-2.0
#include "review/printable.h"

#include <array>
#include <cstddef>

namespace cordon::review {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  // 0: not UTF-8
};

std::uint32_t byte_at(std::string_view bytes, std::size_t index) {
  return static_cast<unsigned char>(bytes[index]);
}

// The first character, only in its shortest form, never a surrogate, never above U+10FFFF.
Character decode(std::string_view bytes) {
  const std::uint32_t lead = byte_at(bytes, 0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length) return {};
  std::uint32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const std::uint32_t next = byte_at(bytes, i);
    if ((next & 0xc0U) != 0x80U) return {};
    code = (code << 6U) | (next & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};
// They move, hide or imitate other characters, or end a line for some programs.
constexpr Range kMisleading[] = {
    {0x00, 0x1f},       // C0 controls
    {0x7f, 0x9f},       // delete and the C1 controls, among them a one-byte CSI
    {0xad, 0xad},       // soft hyphen
    {0x61c, 0x61c},     // Arabic letter mark
    {0x180e, 0x180e},   // Mongolian vowel separator
    {0x200b, 0x200f},   // zero width, left-to-right and right-to-left marks
    {0x2028, 0x202e},   // line and paragraph separators, embeddings, overrides
    {0x2060, 0x206f},   // invisible operators, isolates
    {0xfeff, 0xfeff},   // byte order mark
    {0xfff9, 0xfffb},   // interlinear annotation
    {0xe0000, 0xe0fff}  // tags and variation selectors
};

bool misleads(std::uint32_t code) {
  for (const Range& range : kMisleading) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

void append_hex(std::string& text, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += "\\x";
    text += kDigits[value >> 4U];
    text += kDigits[value & 0xfU];
  }
}

}  // namespace

std::string printable(std::string_view bytes, Spelling spelling) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Character character = decode(bytes);
    const std::size_t length = character.length == 0 ? 1 : character.length;
    const std::string_view raw = bytes.substr(0, length);
    bytes.remove_prefix(length);
    if (character.length == 0) {
      append_hex(text, raw);
    } else if (character.code == '\\' && spelling == Spelling::name) {
      text += "\\\\";
    } else if (character.code == '\t' && spelling == Spelling::line) {
      text += '\t';
    } else if (character.code == '\n') {
      text += "\\n";
    } else if (character.code == '\t') {
      text += "\\t";
    } else if (misleads(character.code)) {
      append_hex(text, raw);
    } else {
      text += raw;
    }
  }
  return text;
}

bool is_utf8(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const Character character = decode(bytes);
    if (character.length == 0) return false;
    bytes.remove_prefix(character.length);
  }
  return true;
}

}  // namespace cordon::review
