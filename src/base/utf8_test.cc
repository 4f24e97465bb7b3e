// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace cordon {
namespace {

using namespace std::string_view_literals;

// What the decoder that sees one byte at a time makes of it: 0 where it is no character.
char32_t by_bytes(std::string_view text) {
  Utf8 decoder;
  for (const char c : text) {
    const Utf8::Step step = decoder.push(static_cast<unsigned char>(c));
    if (step == Utf8::Step::character) return decoder.code();
    if (step != Utf8::Step::more) return 0;
  }
  return 0;
}

std::string encoded(char32_t code) {
  std::string text;
  if (code < 0x800) {
    text += static_cast<char>(0xC0U | (code >> 6U));
  } else {
    if (code < 0x10000) {
      text += static_cast<char>(0xE0U | (code >> 12U));
    } else {
      text += static_cast<char>(0xF0U | (code >> 18U));
      text += static_cast<char>(0x80U | ((code >> 12U) & 0x3FU));
    }
    text += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
  }
  text += static_cast<char>(0x80U | (code & 0x3FU));
  return text;
}

TEST(Utf8, BothDecodersAgreeOnEveryCodeAndRefuseSurrogatesAndWhatLiesBeyond) {
  for (char32_t code = 0x80; code < 0x110100; ++code) {
    const bool exists = (code < 0xD800 || code > 0xDFFF) && code <= 0x10FFFF;
    const std::string text = encoded(code);
    const Utf8Character character = first_character(text);
    ASSERT_EQ(character.length, exists ? text.size() : 0) << std::hex << std::uint32_t{code};
    ASSERT_EQ(character.code, exists ? code : 0);
    ASSERT_EQ(by_bytes(text), exists ? code : 0) << std::hex << std::uint32_t{code};
  }
}

TEST(Utf8, RefusesOverlongCutAndLoneBytes) {
  for (const std::string_view text :
       {"\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x80\x80"sv, "\xF0\x80\x80\x80"sv, "\x80"sv, "\xC3"sv,
        "\xE2\x82"sv, "\xC3("sv, "\xFF"sv}) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_EQ(by_bytes(text), 0U);
  }
  EXPECT_TRUE(is_utf8("plain, b\xC3\xBCrger, \xE2\x82\xAC, \xF0\x9F\x9A\xA7"));
}

TEST(Utf8, CallsDeceptiveWhatSteersHidesOrTurnsAndNothingThatPeopleRead) {
  for (const char32_t code :
       {0x00U, 0x09U, 0x1BU, 0x7FU, 0x9BU, 0xADU, 0x200BU, 0x202EU, 0x2066U, 0xFEFFU, 0xE0041U}) {
    EXPECT_TRUE(is_deceptive(code)) << std::hex << std::uint32_t{code};
  }
  for (const char32_t code : {0x20U, 0x7EU, 0xA0U, 0xFCU, 0x0627U, 0x4E2DU, 0x20ACU, 0x1F6A7U}) {
    EXPECT_FALSE(is_deceptive(code)) << std::hex << std::uint32_t{code};
  }
}

}  // namespace
}  // namespace cordon
