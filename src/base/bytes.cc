// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <cassert>
#include <limits>

namespace cordon {

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
