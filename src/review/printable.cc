// SPDX-License-Identifier: Apache-2.0
#include "review/printable.h"

#include <cstddef>

#include "base/utf8.h"

namespace cordon::review {
namespace {

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
    const Utf8Character character = first_character(bytes);
    const std::size_t length = character.length == 0 ? 1 : character.length;
    const std::string_view raw = bytes.substr(0, length);
    bytes.remove_prefix(length);
    if (character.code == '\t' && spelling == Spelling::line) {
      text += '\t';
    } else if (character.code == '\t') {
      text += "\\t";
    } else if (character.code == '\n') {
      text += "\\n";
    } else if (character.code == '\\' && spelling == Spelling::name) {
      text += "\\\\";
    } else if (character.length == 0 || is_deceptive(character.code)) {
      append_hex(text, raw);
    } else {
      text += raw;
    }
  }
  return text;
}

}  // namespace cordon::review
