// SPDX-License-Identifier: Apache-2.0
// The units of one tenant's quota in one cell: what runs, and what was handed out and is not seen
// yet (pure).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "base/clock.h"
#include "fleet/cell_quota.h"

namespace cordon::fleet {

// One unit is one sandbox that may begin. It counts from when it is handed out until the sandbox is
// seen, the unit comes back unused, or nobody can use it any more.
//
// Whoever has it may spend it for kSpendable; a node takes it for kTaken, by its own clock, which
// is off by less than kClocks. Then it is worth nothing; and whether it was used before is known
// when every node has told all that it has.
class TenantUnits {
 public:
  static constexpr std::chrono::seconds kSpendable{2};
  static constexpr std::chrono::seconds kTaken{10};
  static constexpr std::chrono::seconds kClocks{5};
  static constexpr std::uint32_t kLargestChunk = 32;

  explicit TenantUnits(Cell cell) : quota_{cell} {}

  struct Chunk {
    std::uint64_t first = 0;
    std::uint32_t count = 0;  // 0: there is none left here
  };
  // As many as are wanted, more where there are many; numbered from `first` on. `running`: what is
  // seen of the tenant in this cell.
  Chunk take(std::uint64_t first, std::uint64_t running, std::uint32_t wanted, Ticks now);
  // What is seen of the tenant counts, and what is handed out.
  void recount(std::uint64_t running) { quota_.recount(running + out_.size()); }
  // Its sandbox is seen, or it was not used. One that is not known is none of ours.
  void settle(std::uint64_t number) { out_.erase(number); }
  // Every node of the cell told at `all_read`, or later, all that it has.
  void forget_void(Ticks all_read);

  std::uint64_t outstanding() const noexcept { return out_.size(); }

  // To be kept in accord with the ledger (confer.h).
  CellQuota& quota() noexcept { return quota_; }
  const CellQuota& quota() const noexcept { return quota_; }

 private:
  CellQuota quota_;
  std::map<std::uint64_t, Ticks> out_;  // until when a node may take each
};

}  // namespace cordon::fleet
