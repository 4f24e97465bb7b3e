// SPDX-License-Identifier: Apache-2.0
// Bounded reading and writing of little-endian integers and length-prefixed byte strings.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cordon {

static_assert(std::endian::native == std::endian::little,
              "the codecs copy integers as they lie in memory");

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string to_hex(std::span<const std::byte> bytes);
// Small digits only, two for each byte of `into`. False: `text` is no such text; `into` is then of
// no use.
bool from_hex(std::string_view text, std::span<std::byte> into);

// Reads from the front of `bytes` and never past their end. What it returns by view points into
// them.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) noexcept : rest_{bytes} {}

  template <std::unsigned_integral T>
  Result<T> integer() {
    TRY(const auto raw, take(sizeof(T)));
    T value;
    std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }

  // A 32-bit length, then as many bytes; refused when longer than `longest`.
  Result<std::string_view> text(std::size_t longest);

  Result<std::span<const std::byte>> take(std::size_t count);

  std::size_t left() const noexcept { return rest_.size(); }

  // Trailing bytes are an error everywhere in this project: call it at the end of each message.
  Status finish() const;

 private:
  std::span<const std::byte> rest_;
};

class ByteWriter {
 public:
  template <std::unsigned_integral T>
  void integer(T value) {
    const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  // Before: shorter than 4 GiB.
  void text(std::string_view value);

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace cordon
