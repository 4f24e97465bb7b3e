// SPDX-License-Identifier: Apache-2.0
#include "frame/launcher.h"

#include "frame/variant.h"

namespace cordon::frame {

std::vector<std::byte> encode(const ToLauncher& message) { return encode_variant(message); }
std::vector<std::byte> encode(const FromLauncher& message) { return encode_variant(message); }

Result<ToLauncher> decode_to_launcher(std::span<const std::byte> bytes) {
  return decode_variant<ToLauncher>(bytes);
}
Result<FromLauncher> decode_from_launcher(std::span<const std::byte> bytes) {
  return decode_variant<FromLauncher>(bytes);
}

}  // namespace cordon::frame
