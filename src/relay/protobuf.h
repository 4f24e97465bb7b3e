// SPDX-License-Identifier: Apache-2.0
// The wire format of protocol buffers, read field by field. Never past the end of what was given,
// whoever wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"

namespace cordon::relay {

struct ProtobufField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;             // of an integer
  std::span<const std::byte> bytes{};  // of a text, bytes or a message; points into what is read
  bool has_bytes = false;              // which of the two it is
};

class ProtobufReader {
 public:
  explicit ProtobufReader(std::span<const std::byte> message) noexcept : rest_{message} {}

  // The next field, nothing at the end. `invalid`: these bytes are no message; groups, which nobody
  // writes any more, are none.
  Result<std::optional<ProtobufField>> next();

 private:
  Result<std::uint64_t> varint();
  Result<std::span<const std::byte>> take(std::uint64_t count);
  Result<std::uint64_t> fixed(std::size_t size);

  std::span<const std::byte> rest_;
};

}  // namespace cordon::relay
