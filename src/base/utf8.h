// SPDX-License-Identifier: Apache-2.0
// UTF-8, whole or byte by byte, and which characters a reader cannot see.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cordon {

// Both are strict: no overlong forms, no surrogates, nothing above U+10FFFF.
class Utf8 {
 public:
  enum class Step : std::uint8_t {
    more,           // in the middle of a character
    character,      // `code` and `bytes` hold it
    invalid,        // this byte begins nothing; `bytes` holds it
    invalid_again,  // `bytes` is no character; this byte is not part of it: push it again
  };
  // `byte` is 0x80 or more, unless the last step was `more`.
  Step push(unsigned char byte);
  bool holds_bytes() const noexcept { return missing_ > 0; }
  void reset() noexcept { missing_ = 0; }

  char32_t code() const noexcept { return code_; }
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  char32_t code_ = 0;
  std::string bytes_;
  unsigned missing_ = 0;
  unsigned char lowest_ = 0x80;  // of the next byte
  unsigned char highest_ = 0xBF;
};

struct Utf8Character {
  char32_t code = 0;
  std::size_t length = 0;  // in bytes; 0: what stands there is no UTF-8
};
// The first character of `text`, which is not empty.
Utf8Character first_character(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;

// C0 and C1 controls, marks that turn the direction of text, characters of no width, separators of
// lines, tags: all that lets shown text differ from what it is.
bool is_deceptive(char32_t code) noexcept;

}  // namespace cordon
