// SPDX-License-Identifier: Apache-2.0
// How one tenant's quota is divided among cells: the value of one key of the global etcd, changed
// by whoever compares its revision (pure).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cordon::fleet {

using Cell = std::uint16_t;

// Half of the quota is divided evenly among the tenant's home cells, without anybody writing it
// down: each computes its share. The rest is a pool that any cell takes from. What a home cell has
// given back of its share is in the pool too.
//
// What cells hold and what is in the pool is always the whole: the pool is computed, not kept.
struct QuotaLedger {
  std::uint64_t total = 0;
  std::set<Cell> homes;
  std::map<Cell, std::uint64_t> given;  // of a home's share; not more than it
  std::map<Cell, std::uint64_t> lent;   // beyond a share
  std::set<Cell> wanting;               // who found the pool empty
  friend bool operator==(const QuotaLedger&, const QuotaLedger&) = default;

  std::uint64_t share_of(Cell cell) const;
  std::uint64_t held_by(Cell cell) const;
  // Below 0 after the total went down: until enough is released nobody takes.
  std::int64_t pool() const;
  // What cells hold beyond the total.
  std::uint64_t excess() const;

  // So many free ones are too few for a cell to wait with, and so many are the least that it takes:
  // few of a small quota, which would else be in one cell at once.
  std::uint64_t margin() const;
  std::uint64_t least_chunk() const { return 2 * margin(); }

  // Half of the pool, at least least_chunk() as far as there is. 0: it is empty.
  std::uint64_t take(Cell cell);
  // Back into the pool; not more than it holds. Where there is enough for all who wanted, none of
  // them does any more; else they still do, and need not say it again.
  void release(Cell cell, std::uint64_t amount);
  // Another than `cell` found the pool empty, and there is not enough in it for all who did.
  bool is_wanted_by_others(Cell cell) const;
  // Says that the pool was found empty. False: it was said already.
  bool want(Cell cell);
  // Another total or other homes. A cell that has not heard of it yet goes by what it knows: where
  // the total went down, or it is no home any more, it may have more than its part until it hears.
  void resize(std::uint64_t new_total, std::set<Cell> new_homes);

 private:
  bool has_for_all_wanting() const;
};

std::string encode(const QuotaLedger& ledger);
Result<QuotaLedger> decode_quota(std::string_view text);

}  // namespace cordon::fleet
