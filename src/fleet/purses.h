// SPDX-License-Identifier: Apache-2.0
// Which tenants have a quota of the fleet, and the units of it that a gateway holds for a moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "fleet/indexes.h"
#include "fleet/quota_ledger.h"
#include "wire/unit.h"

namespace cordon::fleet {

// Used from the loop's thread only. A gateway that dies loses at most what it holds, which counts
// as used until nobody can use it any more.
class Purses {
 public:
  // All outlive it.
  Purses(const asio::any_io_executor& executor, Indexes& indexes, const Clock& clock);
  Purses(const Purses&) = delete;
  Purses& operator=(const Purses&) = delete;

  // Follows the ledgers in the etcd of all cells. Ends only with an error that does not pass, or
  // cancelled.
  async::Task<void> follow(etcd::Client& all);
  // Until it is known who has a quota: from etcd, or from the disk. Before, nobody is served.
  asio::awaitable<void> until_known() const;
  // As lines of text, for the disk; and of an earlier start.
  std::string saved() const;
  void restore(std::string_view text);

  // Null: the tenant has no quota of the fleet.
  const QuotaLedger* ledger(const std::string& tenant) const;
  const std::map<std::string, QuotaLedger>& ledgers() const noexcept { return ledgers_; }
  // Before etcd tells it.
  void know(const std::string& tenant, QuotaLedger ledger) {
    ledgers_.insert_or_assign(tenant, std::move(ledger));
  }

  // `exhausted`: the tenant has none left in that cell, as its index said just now. `unavailable`:
  // no index of it answers, nor does another begin to within a moment.
  async::Task<wire::Unit> take(std::string tenant, std::uint16_t cell);
  // One that was not used.
  void give_back(const std::string& tenant, std::uint16_t cell, const wire::Unit& unit);
  // A node does not take it: nor any other of the same index that is held here.
  void drop(std::uint16_t cell, const wire::Unit& unit);
  // Something of the tenant's has ended: whoever was told that there is none left asks again.
  void forget_refusals(const std::string& tenant);
  // Where nothing is to begin by a unit of `cell`: its index does not read them.
  std::vector<NodeId> unread(std::uint16_t cell) const;

  // So many questions for units since the start.
  std::uint64_t asked() const noexcept { return asked_; }

  // Gives back to indexes what was not used; until it is cancelled.
  asio::awaitable<void> keep();

 private:
  using Whose = std::pair<std::string, std::uint16_t>;  // tenant and cell
  struct Held {
    wire::Unit unit;
    Ticks until{};
  };
  struct Purse {
    std::vector<Held> held;
    std::vector<wire::Unit> unused;
    std::uint32_t waiting = 0;  // for units
    bool is_asking = false;     // one of them, for all
    // How that ended last, where nothing came of it.
    Error refusal{Errc::unavailable, {}};
    Ticks refused_at{};
    void drop_late(Ticks now);
  };
  class Turn;
  void took(const etcd::Event& event);
  async::Task<Nodes::Answer> ask(Whose whose, std::uint32_t wanted);
  // For all who wait. What is gained is in the purse.
  async::Task<void> fill(Whose whose);
  async::Task<void> fill_once(Whose whose);

  Indexes& indexes_;
  const Clock& clock_;
  std::map<std::string, QuotaLedger> ledgers_;
  std::map<Whose, Purse> purses_;
  struct Unread {
    std::vector<NodeId> nodes;
    Ticks said_at{};
  };
  std::map<std::uint16_t, Unread> unread_;  // by cell
  std::uint64_t asked_ = 0;
  bool is_known_ = false;
  bool is_known_by_etcd_ = false;
  mutable asio::steady_timer news_;  // never fires: cancelled when it is known
  asio::steady_timer filled_;        // as above, when a question for units has ended
};

}  // namespace cordon::fleet
