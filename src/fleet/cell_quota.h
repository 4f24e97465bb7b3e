// SPDX-License-Identifier: Apache-2.0
// A cell's part of one tenant's quota: who may begin, and what is asked of the ledger (pure).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <variant>

#include "base/clock.h"
#include "fleet/quota_ledger.h"

namespace cordon::fleet {

// The cells never have more between them than the quota, also while some are cut off and while
// changes of the ledger are unsure: a cell counts what it may have released as gone before it asks,
// and what it takes when it is told so.
class CellQuota {
 public:
  // What is lent counts for new sandboxes for so long after the ledger was last heard of. What runs
  // is never ended for it: it stays counted, and the loan stays with the cell.
  static constexpr std::chrono::seconds kLoan{60};

  explicit CellQuota(Cell cell) : cell_{cell} {}

  // The ledger as it was at `revision`, asked for at `asked`. Of a revision that is known: it still
  // is so.
  void heard(const QuotaLedger& ledger, std::int64_t revision, Ticks asked);

  // True: one more runs. Before the ledger was first heard of: none does.
  bool admit(Ticks now);
  // One that ran has ended.
  void ended() { --used_; }
  // What was found when the cell was counted anew.
  void recount(std::uint64_t used) { used_ = used; }

  // What to ask of the ledger, if anything. The change is made in `ledger`, which is to be written
  // where its revision is still `base`; until then as much as could be released counts as gone.
  // However that ends, heard() with what stands there tells.
  struct Change {
    std::int64_t base = 0;
    QuotaLedger ledger;
  };
  std::optional<Change> next_change(Ticks now);
  // What was heard last, to be written as it is.
  Change as_known() const { return {.base = revision_, .ledger = known_}; }

  std::uint64_t used() const noexcept { return used_; }
  // What may run at `now`.
  std::uint64_t allowed(Ticks now) const;

 private:
  std::uint64_t held() const;
  std::uint64_t lent() const;

  // So many free ones are too few to wait with.
  static constexpr std::uint64_t kMargin = 8;

  Cell cell_;
  std::uint64_t used_ = 0;
  bool was_asked_ = false;  // since the last change that was thought of
  QuotaLedger known_;
  std::int64_t revision_ = -1;
  Ticks heard_at_{};
  std::uint64_t leaving_ = 0;  // perhaps released, by a change on top of revision_
};

}  // namespace cordon::fleet
