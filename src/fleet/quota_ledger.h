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

  // Half of the pool, at least kLeastChunk as far as there is. 0: it is empty.
  std::uint64_t take(Cell cell);
  // Back into the pool; not more than it holds. Whoever wanted finds some there.
  void release(Cell cell, std::uint64_t amount);
  // Says that the pool was found empty. False: it was said already.
  bool want(Cell cell);
  // Another total or other homes. A cell that has not heard of it yet goes by what it knows: where
  // the total went down, or it is no home any more, it may have more than its part until it hears.
  void resize(std::uint64_t new_total, std::set<Cell> new_homes);

  static constexpr std::uint64_t kLeastChunk = 16;
};

std::string encode(const QuotaLedger& ledger);
Result<QuotaLedger> decode_quota(std::string_view text);

}  // namespace cordon::fleet
