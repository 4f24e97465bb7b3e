// SPDX-License-Identifier: Apache-2.0
#include "frame/keeper.h"

#include "frame/variant.h"

namespace cordon::frame {

std::vector<std::byte> encode(const ToKeeper& message) { return encode_variant(message); }
std::vector<std::byte> encode(const FromKeeper& message) { return encode_variant(message); }

Result<ToKeeper> decode_to_keeper(std::span<const std::byte> bytes) {
  return decode_variant<ToKeeper>(bytes);
}
Result<FromKeeper> decode_from_keeper(std::span<const std::byte> bytes) {
  return decode_variant<FromKeeper>(bytes);
}

}  // namespace cordon::frame
