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
  // A change on top of an earlier revision is in what stands there, or never will be.
  leaving_ = 0;
}

std::uint64_t CellQuota::held() const {
  const std::uint64_t all = known_.held_by(cell_);
  return all - std::min(all, leaving_);
}

std::uint64_t CellQuota::lent() const {
  const auto found = known_.lent.find(cell_);
  return found == known_.lent.end() ? 0 : found->second;
}

std::uint64_t CellQuota::allowed(Ticks now) const {
  if (revision_ < 0) return 0;
  if (now - heard_at_ <= kLoan) return held();
  return held() - std::min(held(), lent());
}

bool CellQuota::admit(Ticks now) {
  was_asked_ = true;
  if (used_ >= allowed(now)) return false;
  ++used_;
  return true;
}

std::optional<CellQuota::Change> CellQuota::next_change(Ticks now) {
  if (revision_ < 0) return std::nullopt;
  Change change{.base = revision_, .ledger = known_};
  const bool others_want =
      std::ranges::any_of(known_.wanting, [&](Cell one) { return one != cell_; });
  if (leaving_ == 0) {
    const std::uint64_t unused = held() - std::min(held(), used_);
    const std::uint64_t loan = lent();
    // A loan that its share would do for; or half of what it does not use, where others are short.
    if (loan > 0 && unused >= loan + 2 * kMargin) leaving_ = loan;
    if (others_want && unused > 2 * kMargin) leaving_ = std::max(leaving_, (unused + 1) / 2);
  }
  // Also where it was asked before and nobody knows how that ended: the same again, no more.
  if (leaving_ > 0) {
    change.ledger.release(cell_, leaving_);
    return change;
  }
  // A cell that nobody asks takes nothing, however little it has.
  if (!std::exchange(was_asked_, false) || used_ + kMargin < allowed(now)) return std::nullopt;
  if (change.ledger.take(cell_) > 0) return change;
  if (change.ledger.want(cell_)) return change;
  return std::nullopt;
}

}  // namespace cordon::fleet
