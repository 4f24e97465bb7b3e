// SPDX-License-Identifier: Apache-2.0
#include "fleet/tenant_units.h"

#include <algorithm>

namespace cordon::fleet {

TenantUnits::Chunk TenantUnits::take(std::uint64_t first, std::uint64_t running,
                                     std::uint32_t wanted, Ticks now) {
  recount(running);
  const std::uint64_t allowed = quota_.allowed(now);
  const std::uint64_t free = allowed - std::min(allowed, quota_.used());
  // Near the end nobody gets what others would then lack.
  constexpr std::uint64_t kPart = 8;
  const std::uint64_t most =
      std::min<std::uint64_t>(kLargestChunk, std::max<std::uint64_t>(wanted, free / kPart));
  Chunk chunk{.first = first, .count = 0};
  // Asked for also where there is none: then more is asked of the ledger.
  while (chunk.count < std::max<std::uint64_t>(most, 1) && quota_.admit(now)) {
    out_.emplace(first + chunk.count, now + kTaken + kClocks);
    ++chunk.count;
  }
  return chunk;
}

void TenantUnits::forget_void(Ticks all_read) {
  std::erase_if(out_, [all_read](const auto& one) { return one.second <= all_read; });
}

}  // namespace cordon::fleet
