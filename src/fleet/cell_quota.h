// SPDX-License-Identifier: Apache-2.0
// A cell's part of one tenant's quota: who may begin, and what is asked of the ledger (pure).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

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
  // What a cell had free for longer than this, others may have who are short.
  static constexpr std::chrono::seconds kIdle{15};

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
  // As it was heard last.
  const QuotaLedger& known() const noexcept { return known_; }
  // What may run at `now`. While cells hold more than the total, which went down, that much less:
  // nothing new begins until enough is given back.
  std::uint64_t allowed(Ticks now) const;

 private:
  std::uint64_t held() const { return held_ - std::min(held_, leaving_); }
  std::uint64_t unused() const { return held() - std::min(held(), used_); }
  void look(std::uint64_t unused, Ticks now);
  std::uint64_t to_release() const;

  Cell cell_;
  std::uint64_t used_ = 0;
  bool was_asked_ = false;  // since the last change that was thought of
  QuotaLedger known_;
  std::int64_t revision_ = -1;
  // Of what is known: what this cell holds, what of it is lent, and what all hold beyond the total.
  std::uint64_t held_ = 0;
  std::uint64_t lent_ = 0;
  std::uint64_t excess_ = 0;
  Ticks heard_at_{};
  std::uint64_t leaving_ = 0;  // perhaps released, by a change on top of revision_
  // The fewest that were unused since `since_`, and for kIdle before it.
  std::uint64_t fewest_ = 0;
  std::uint64_t fewest_before_ = 0;
  Ticks since_{};
};

}  // namespace cordon::fleet
