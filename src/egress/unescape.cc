// SPDX-License-Identifier: Apache-2.0
#include "egress/unescape.h"

#include <string_view>

namespace cordon::egress {
namespace {

// 16: no hex digit.
unsigned digit(std::uint8_t c) noexcept {
  if (c >= '0' && c <= '9') return c - unsigned{'0'};
  const std::uint8_t lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - unsigned{'a'} + 10 : 16;
}

// The short escapes of JSON, and what they stand for.
constexpr std::string_view kShort = "\"\\/bfnrt";
constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";

}  // namespace

std::optional<std::uint8_t> Unescape::short_meaning(std::uint8_t letter) noexcept {
  const auto at = kShort.find(static_cast<char>(letter));
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<std::uint8_t>(kMeaning[at]);
}

void Unescape::give_character(unsigned code) noexcept {
  const auto tail = [](unsigned bits) { return static_cast<std::uint8_t>(0x80 | (bits & 0x3F)); };
  if (code < 0x80) {
    give(static_cast<std::uint8_t>(code));
  } else if (code < 0x800) {
    give(static_cast<std::uint8_t>(0xC0 | (code >> 6U)));
    give(tail(code));
  } else {
    give(static_cast<std::uint8_t>(0xE0 | (code >> 12U)));
    give(tail(code >> 6U));
    give(tail(code));
  }
}

Unescape::Progress Unescape::look() noexcept {
  if (kind_ == Escapes::json && held_size_ == 2 && held_[1] != 'u') {
    const auto meaning = short_meaning(held_[1]);
    if (!meaning) return Progress::none;
    give(*meaning);
    return Progress::done;
  }
  const std::size_t first = kind_ == Escapes::percent ? 1 : 2;
  const std::size_t whole = kind_ == Escapes::percent ? 3 : 6;
  if (held_size_ > first && digit(held_[held_size_ - 1U]) == 16) return Progress::none;
  if (held_size_ < whole) return Progress::more;
  unsigned code = 0;
  for (std::size_t i = first; i < whole; ++i) code = code * 16 + digit(held_[i]);
  if (kind_ == Escapes::percent) {
    give(static_cast<std::uint8_t>(code));
  } else {
    give_character(code);
  }
  return Progress::done;
}

std::span<const std::uint8_t> Unescape::push(std::uint8_t byte) noexcept {
  out_size_ = 0;
  if (held_size_ == 0 && !begins(kind_, byte)) {
    give(byte);
    return std::span{out_}.first(out_size_);
  }
  held_[held_size_++] = byte;
  if (held_size_ == 1) return {};
  const Progress progress = look();
  if (progress == Progress::more) return {};
  if (progress == Progress::none) {
    // It was none after all; its last byte may begin another.
    const bool again = begins(kind_, byte);
    const std::size_t plain = held_size_ - (again ? 1U : 0U);
    for (std::size_t i = 0; i < plain; ++i) give(held_[i]);
    held_[0] = byte;
    held_size_ = again ? 1 : 0;
  } else {
    held_size_ = 0;
  }
  return std::span{out_}.first(out_size_);
}

}  // namespace cordon::egress
