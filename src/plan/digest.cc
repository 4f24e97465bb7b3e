// SPDX-License-Identifier: Apache-2.0
#include "plan/digest.h"

#include <fmt/format.h>

namespace cordon::plan {

std::string digest_of(const Lowered& lowered) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&](std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3ULL;
    }
  };
  add(frame::encode(lowered.plan));
  if (lowered.network) add(frame::encode(frame::NodeToEgress{*lowered.network}));
  add(std::as_bytes(std::span{lowered.ingress}));
  return fmt::format("fnv1a:{:016x}", hash);
}

}  // namespace cordon::plan
