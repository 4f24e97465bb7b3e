// SPDX-License-Identifier: Apache-2.0
// The units of all tenants in one cell, for as long as one index of it acts (pure).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fleet/tenant_units.h"
#include "fleet/unit_names.h"
#include "wire/unit.h"

namespace cordon::fleet {

class UnitBook {
 public:
  explicit UnitBook(Cell cell) : cell_{cell} {}

  // Of an index of another number nothing holds. The same: nothing changes, whatever was between.
  void begin(std::uint64_t index);

  // A node has told of a sandbox that began by it, or a gateway gives it back. Of another index:
  // nothing.
  void settle(const std::string& tenant, const wire::Unit& unit);
  void forget_void(Ticks all_read);

  struct Account {
    TenantUnits units;
    bool is_claimed = false;  // no change of an index before us can come any more
    bool is_busy = false;     // somebody confers for it
    Ticks asked_at{};
    Ticks conferred_at{};
  };
  // Its owners: the book, and who confers for it while a term may end.
  using Shared = std::shared_ptr<Account>;
  // Somebody confers, until this goes: also where that is cut off half way.
  class Busy {
   public:
    explicit Busy(Shared account) : account_{std::move(account)} { account_->is_busy = true; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() { account_->is_busy = false; }

   private:
    Shared account_;
  };
  // Of a tenant that is asked for; made where there is none.
  Shared account(const std::string& tenant);
  void close(const std::string& tenant) { accounts_.erase(tenant); }
  const std::map<std::string, Shared>& accounts() const noexcept { return accounts_; }

  // Numbers as they are handed out.
  std::vector<std::uint64_t> take(Account& account, std::uint64_t running, std::uint32_t wanted,
                                  Ticks now);

 private:
  Cell cell_;
  std::optional<std::uint64_t> index_;
  std::uint64_t next_ = 1;
  UnitNames names_{UnitNames::new_key()};
  std::map<std::string, Shared> accounts_;
};

}  // namespace cordon::fleet
