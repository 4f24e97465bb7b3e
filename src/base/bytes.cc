// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <cassert>
#include <limits>

namespace cordon {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    text += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  return text;
}

bool from_hex(std::string_view text, std::span<std::byte> into) {
  if (text.size() != 2 * into.size()) return false;
  bool is_hex = true;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const int high = digit_of(text[2 * i]);
    const int low = digit_of(text[2 * i + 1]);
    is_hex = is_hex && high >= 0 && low >= 0;
    into[i] = static_cast<std::byte>((static_cast<unsigned>(high) << 4U) |
                                     (static_cast<unsigned>(low) & 15U));
  }
  return is_hex;
}

Result<std::span<const std::byte>> ByteReader::take(std::size_t count) {
  if (count > rest_.size()) return Error{Errc::invalid, "message ends too early"};
  const auto taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

Result<std::string_view> ByteReader::text(std::size_t longest) {
  TRY(const auto length, integer<std::uint32_t>());
  if (length > longest) return Error{Errc::invalid, "byte string longer than its limit"};
  TRY(const auto raw, take(length));
  // A view of bytes as characters: char may alias anything.
  return std::string_view{reinterpret_cast<const char*>(raw.data()), raw.size()};
}

Status ByteReader::finish() const {
  if (!rest_.empty()) return Error{Errc::invalid, "message has bytes after its end"};
  return {};
}

void ByteWriter::text(std::string_view value) {
  assert(value.size() <= std::numeric_limits<std::uint32_t>::max());
  integer(static_cast<std::uint32_t>(value.size()));
  const auto raw = as_bytes(value);
  bytes_.insert(bytes_.end(), raw.begin(), raw.end());
}

}  // namespace cordon
