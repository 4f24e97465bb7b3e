// SPDX-License-Identifier: Apache-2.0
#include "frame/egress.h"

#include "frame/variant.h"

namespace cordon::frame {

std::vector<std::byte> encode(const LauncherToEgress& message) { return encode_variant(message); }
std::vector<std::byte> encode(const EgressToLauncher& message) { return encode_variant(message); }
std::vector<std::byte> encode(const NodeToEgress& message) { return encode_variant(message); }
std::vector<std::byte> encode(const EgressToNode& message) { return encode_variant(message); }

Result<LauncherToEgress> decode_launcher_to_egress(std::span<const std::byte> bytes) {
  return decode_variant<LauncherToEgress>(bytes);
}
Result<EgressToLauncher> decode_egress_to_launcher(std::span<const std::byte> bytes) {
  return decode_variant<EgressToLauncher>(bytes);
}
Result<NodeToEgress> decode_node_to_egress(std::span<const std::byte> bytes) {
  return decode_variant<NodeToEgress>(bytes);
}
Result<EgressToNode> decode_egress_to_node(std::span<const std::byte> bytes) {
  return decode_variant<EgressToNode>(bytes);
}

}  // namespace cordon::frame
