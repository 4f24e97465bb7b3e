// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <algorithm>
#include <array>

namespace cordon {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array kDeceptive = std::to_array<Range>({
    {0x00, 0x1F},        // C0 controls
    {0x7F, 0x9F},        // delete, and the C1 controls: terminals obey them also in UTF-8
    {0xAD, 0xAD},        // soft hyphen
    {0x034F, 0x034F},    // grapheme joiner
    {0x061C, 0x061C},    // Arabic letter mark
    {0x115F, 0x1160},    // Hangul fillers
    {0x17B4, 0x17B5},    // Khmer vowels without a glyph
    {0x180B, 0x180F},    // Mongolian selectors and separator
    {0x200B, 0x200F},    // zero width, direction marks
    {0x2028, 0x202E},    // separators of lines, embeddings, overrides
    {0x2060, 0x206F},    // joiners, invisible operators, isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xFE00, 0xFE0D},    // variation selectors; those for emoji and text are the two after them
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFA0, 0xFFA0},    // half-width filler
    {0xFFF0, 0xFFFB},    // annotation
    {0xFFFE, 0xFFFF},    // no characters
    {0x1D173, 0x1D17A},  // musical controls
    {0xE0000, 0xE0FFF},  // tags and selectors: whole messages that nobody sees
});

}  // namespace

Utf8::Step Utf8::push(unsigned char byte) {
  if (missing_ == 0) {
    bytes_.assign(1, static_cast<char>(byte));
    lowest_ = 0x80;
    highest_ = 0xBF;
    if (byte < 0xC2 || byte > 0xF4) return Step::invalid;
    missing_ = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    code_ = byte & (0x3FU >> missing_);
    if (byte == 0xE0) lowest_ = 0xA0;
    if (byte == 0xED) highest_ = 0x9F;
    if (byte == 0xF0) lowest_ = 0x90;
    if (byte == 0xF4) highest_ = 0x8F;
    return Step::more;
  }
  if (byte < lowest_ || byte > highest_) {
    missing_ = 0;
    return Step::invalid_again;
  }
  lowest_ = 0x80;
  highest_ = 0xBF;
  code_ = (code_ << 6U) | (byte & 0x3FU);
  bytes_ += static_cast<char>(byte);
  return --missing_ == 0 ? Step::character : Step::more;
}

Utf8Character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, length};
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (character.length == 0) return false;
    text.remove_prefix(character.length);
  }
  return true;
}

bool is_deceptive(char32_t code) noexcept {
  return std::ranges::any_of(
      kDeceptive, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

}  // namespace cordon
