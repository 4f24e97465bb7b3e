// SPDX-License-Identifier: Apache-2.0
#include "frame/notary.h"

#include "frame/variant.h"

namespace cordon::frame {

std::vector<std::byte> encode(const ToNotary& message) { return encode_variant(message); }
std::vector<std::byte> encode(const FromNotary& message) { return encode_variant(message); }

Result<ToNotary> decode_to_notary(std::span<const std::byte> bytes) {
  return decode_variant<ToNotary>(bytes);
}
Result<FromNotary> decode_from_notary(std::span<const std::byte> bytes) {
  return decode_variant<FromNotary>(bytes);
}

}  // namespace cordon::frame
