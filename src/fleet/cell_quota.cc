// SPDX-License-Identifier: Apache-2.0
#include "fleet/cell_quota.h"

#include <algorithm>
#include <utility>

namespace cordon::fleet {

void CellQuota::heard(const QuotaLedger& ledger, std::int64_t revision, Ticks asked) {
  if (revision < revision_) return;
  heard_at_ = std::max(heard_at_, asked);
  if (revision == revision_) return;
  known_ = ledger;
  revision_ = revision;
  held_ = ledger.held_by(cell_);
  const auto loan = ledger.lent.find(cell_);
  lent_ = loan == ledger.lent.end() ? 0 : loan->second;
  excess_ = ledger.excess();
  // A change on top of an earlier revision is in what stands there, or never will be.
  leaving_ = 0;
}

std::uint64_t CellQuota::allowed(Ticks now) const {
  if (revision_ < 0) return 0;
  const std::uint64_t stale = now - heard_at_ <= kLoan ? 0 : lent_;
  // Of what there is too much, what we perhaps have released already is a part.
  const std::uint64_t still = excess_ - std::min(excess_, leaving_);
  return held() - std::min(held(), std::max(stale, still));
}

bool CellQuota::admit(Ticks now) {
  was_asked_ = true;
  if (used_ >= allowed(now)) {
    look(0, now);
    return false;
  }
  ++used_;
  look(unused(), now);
  return true;
}

void CellQuota::look(std::uint64_t unused, Ticks now) {
  if (now - since_ >= kIdle) {
    fewest_before_ = std::exchange(fewest_, unused);
    since_ = now;
  }
  fewest_ = std::min(fewest_, unused);
}

std::uint64_t CellQuota::to_release() const {
  const std::uint64_t margin = known_.margin();
  std::uint64_t amount = std::min({unused(), lent_, excess_});
  // A loan that its share would do for.
  if (lent_ > 0 && unused() >= lent_ + 2 * margin) amount = std::max(amount, lent_);
  if (known_.is_wanted_by_others(cell_)) {
    // At once half of what it does not use; and what it has not used for a while, however little:
    // of a small quota that is most of it. What comes and goes meanwhile it keeps, else each end at
    // the limit would be a write.
    if (unused() > 2 * margin) amount = std::max(amount, (unused() + 1) / 2);
    amount = std::max(amount, std::min({unused(), fewest_, fewest_before_}));
  }
  return amount;
}

std::optional<CellQuota::Change> CellQuota::next_change(Ticks now) {
  if (revision_ < 0) return std::nullopt;
  look(unused(), now);
  Change change{.base = revision_, .ledger = known_};
  if (leaving_ == 0) leaving_ = to_release();
  // Also where it was asked before and nobody knows how that ended: the same again, no more.
  if (leaving_ > 0) {
    change.ledger.release(cell_, leaving_);
    return change;
  }
  // A cell that nobody asks takes nothing, however little it has.
  if (!std::exchange(was_asked_, false) || used_ + known_.margin() < allowed(now)) {
    return std::nullopt;
  }
  if (change.ledger.take(cell_) > 0) return change;
  if (change.ledger.want(cell_)) return change;
  return std::nullopt;
}

}  // namespace cordon::fleet
