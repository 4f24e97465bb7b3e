// SPDX-License-Identifier: Apache-2.0
#include "audit/canonical.h"

#include <charconv>

#include "base/utf8.h"

namespace cordon::audit {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

// How many bytes at the front of `text` stand for themselves, as one character.
std::size_t plain_length(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F && lead != '"' && lead != '\\' ? 1 : 0;
  const Utf8Character character = first_character(text);
  return is_deceptive(character.code) ? 0 : character.length;
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += R"(\")";
      return;
    case '\\':
      out += R"(\\)";
      return;
    case '\n':
      out += R"(\n)";
      return;
    case '\t':
      out += R"(\t)";
      return;
    default:
      const auto byte = static_cast<unsigned char>(c);
      out += R"(\u00)";
      out += kHexDigits[byte >> 4U];
      out += kHexDigits[byte & 15U];
  }
}

}  // namespace

void append_canonical(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    std::size_t taken = plain_length(text);
    if (taken > 0) {
      out += text.substr(0, taken);
    } else {
      append_escaped(out, text.front());
      taken = 1;
    }
    text.remove_prefix(taken);
  }
  out += '"';
}

bool CanonicalReader::take(std::string_view literal) noexcept {
  if (failed_ || !rest_.starts_with(literal)) return false;
  rest_.remove_prefix(literal.size());
  return true;
}

void CanonicalReader::expect(std::string_view literal) noexcept {
  if (!take(literal)) fail();
}

unsigned CanonicalReader::digit() noexcept {
  const std::size_t value = rest_.empty() ? std::string_view::npos : kHexDigits.find(rest_.front());
  if (value == std::string_view::npos) {
    fail();
    return 0;
  }
  rest_.remove_prefix(1);
  return static_cast<unsigned>(value);
}

unsigned char CanonicalReader::escaped() noexcept {
  if (take(R"(")")) return '"';
  if (take(R"(\)")) return '\\';
  if (take("n")) return '\n';
  if (take("t")) return '\t';
  expect("u00");
  const unsigned high = digit();
  return static_cast<unsigned char>(high * 16 + digit());
}

std::string CanonicalReader::text() {
  expect("\"");
  std::string value;
  while (!failed_ && !take("\"")) {
    if (rest_.empty()) {
      fail();
    } else if (take("\\")) {
      value += static_cast<char>(escaped());
    } else {
      value += rest_.front();
      rest_.remove_prefix(1);
    }
  }
  return value;
}

std::uint64_t CanonicalReader::number() noexcept {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  const auto length = static_cast<std::size_t>(end - rest_.data());
  if (failed_ || error != std::errc{} || (rest_.front() == '0' && length > 1)) {
    fail();
    return 0;
  }
  rest_.remove_prefix(length);
  return value;
}

bool CanonicalReader::flag() noexcept {
  if (take("true")) return true;
  expect("false");
  return false;
}

void CanonicalReader::hex(std::span<std::byte> bytes) noexcept {
  for (std::byte& byte : bytes) {
    const unsigned high = digit();
    byte = static_cast<std::byte>(high * 16 + digit());
  }
}

}  // namespace cordon::audit
