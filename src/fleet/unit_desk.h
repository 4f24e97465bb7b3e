// SPDX-License-Identifier: Apache-2.0
// Where gateways get the units by which sandboxes of tenants with a quota begin in this cell.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "fleet/cell_index.h"
#include "fleet/census_readers.h"
#include "fleet/node_id.h"
#include "fleet/unit_book.h"
#include "wire/unit.h"

namespace cordon::fleet {

// Used from the loop's thread only.
class UnitDesk {
 public:
  // All outlive it. `all`: the etcd of all cells.
  UnitDesk(std::uint16_t cell, etcd::Client& all, const CellIndex& index,
           const CensusReaders& readers, UnitBook& book, const Clock& clock)
      : cell_{cell}, all_{all}, index_{index}, readers_{readers}, book_{book}, clock_{clock} {}

  // Begins with each new term, and confers with the ledgers of those who are asked for, or of whom
  // other cells want something; in `scope`, until it is cancelled.
  asio::awaitable<void> keep(async::Scope& scope);

  struct Answer {
    std::vector<wire::Unit> units;  // none: the tenant has none left here
    std::uint64_t allowed = 0;      // in this cell
    std::uint64_t used = 0;
    // Nodes that take none of them, or of whom nobody would know.
    std::vector<NodeId> unread{};
  };
  // `unavailable`: we do not act, or not every node of the cell was read since we do. `not_found`:
  // the tenant has no quota.
  async::Task<Answer> take(std::string tenant, std::uint32_t wanted);
  void give_back(const std::string& tenant, const wire::Unit& unit) { book_.settle(tenant, unit); }
  // take() gives, where there is something.
  bool gives();

 private:
  static constexpr std::chrono::milliseconds kTurn{250};
  // A connection that breaks off is there again before.
  static constexpr std::chrono::seconds kUnread{3};
  // Between two rounds with a ledger, of tenants that were asked for just now and of others.
  static constexpr std::chrono::seconds kSoon{2};
  static constexpr std::chrono::seconds kLate{15};

  // What has become of the term since.
  void look();
  Result<std::uint64_t> term();
  asio::awaitable<void> follow();
  void heard(const etcd::Event& event);
  void confer_where_due(async::Scope& scope);
  asio::awaitable<void> confer_by(std::string tenant, UnitBook::Shared account);
  async::Task<void> confer_once(std::string tenant, UnitBook::Shared account);

  std::uint16_t cell_;
  etcd::Client& all_;
  const CellIndex& index_;
  const CensusReaders& readers_;
  UnitBook& book_;
  const Clock& clock_;
  std::optional<std::uint64_t> term_;
  bool has_swept_ = false;  // in this term
  // Of whose quotas others want what this cell may have, or which went down.
  std::set<std::string> called_;
};

}  // namespace cordon::fleet
