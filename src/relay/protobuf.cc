// SPDX-License-Identifier: Apache-2.0
#include "relay/protobuf.h"

#include <cstring>

namespace cordon::relay {
namespace {

enum class WireType : std::uint8_t { varint = 0, eight_bytes = 1, length = 2, four_bytes = 5 };

Error no_message(const char* why) { return Error{Errc::invalid, std::string{"protobuf: "} + why}; }

}  // namespace

// Seven bits a byte, the lowest first; of the tenth only one is left.
Result<std::uint64_t> ProtobufReader::varint() {
  constexpr unsigned kLastShift = 63;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift <= kLastShift; shift += 7) {
    if (rest_.empty()) return no_message("a number without its end");
    const auto byte = std::to_integer<std::uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    if (shift == kLastShift && byte > 1) break;
    value |= (byte & 0x7FU) << shift;
    if (byte < 0x80U) return value;
  }
  return no_message("a number of more than 64 bits");
}

Result<std::span<const std::byte>> ProtobufReader::take(std::uint64_t count) {
  if (count > rest_.size()) return no_message("a field longer than its message");
  const auto taken = rest_.first(static_cast<std::size_t>(count));
  rest_ = rest_.subspan(taken.size());
  return taken;
}

Result<std::uint64_t> ProtobufReader::fixed(std::size_t size) {
  TRY(const auto raw, take(size));
  std::uint64_t value = 0;
  std::memcpy(&value, raw.data(), raw.size());
  return value;
}

Result<std::optional<ProtobufField>> ProtobufReader::next() {
  using Next = std::optional<ProtobufField>;
  if (rest_.empty()) return Next{};
  constexpr std::uint64_t kLastNumber = (std::uint64_t{1} << 29U) - 1;
  TRY(const std::uint64_t key, varint());
  const std::uint64_t number = key >> 3U;
  if (number == 0 || number > kLastNumber) return no_message("a field without a number");
  ProtobufField field{.number = static_cast<std::uint32_t>(number)};
  switch (static_cast<WireType>(key & 7U)) {
    case WireType::varint: {
      TRY(field.value, varint());
      return Next{field};
    }
    case WireType::eight_bytes: {
      TRY(field.value, fixed(8));
      return Next{field};
    }
    case WireType::length: {
      TRY(const std::uint64_t length, varint());
      TRY(field.bytes, take(length));
      field.has_bytes = true;
      return Next{field};
    }
    case WireType::four_bytes: {
      TRY(field.value, fixed(4));
      return Next{field};
    }
  }
  return no_message("a field of no kind");
}

}  // namespace cordon::relay
