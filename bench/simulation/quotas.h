// SPDX-License-Identifier: Apache-2.0
// The tenants' quotas: what stands in the etcd of all cells, and what each cell's index makes of
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/cell_quota.h"
#include "fleet/quota_ledger.h"
#include "simulation/scenario.h"
#include "simulation/tenants.h"
#include "simulation/wheel.h"

namespace cordon::simulation {

class Quotas {
 public:
  Quotas(const Size& size, Arm::Quota rule, const std::vector<Tenant>& tenants);

  // What a node asks the index of its cell.
  bool admit(std::uint16_t cell, std::uint16_t tenant, Millis now);
  void ended(std::uint16_t cell, std::uint16_t tenant, std::uint64_t count = 1);

  // fleet::confer() in three steps, each of which may be the last: what the index asks, what etcd
  // makes of it, and that the index hears of it.
  struct Asked {
    std::uint16_t cell = 0;
    std::uint16_t tenant = 0;
    Millis at{};
    std::optional<fleet::CellQuota::Change> change;
  };
  struct Answered {
    std::uint16_t cell = 0;
    std::uint16_t tenant = 0;
    Millis asked_at{};
    std::string ledger;
    std::int64_t revision = 0;
  };
  Asked ask(std::uint16_t cell, std::uint16_t tenant, Millis now);
  Answered serve(const Asked& asked);
  void hear(const Answered& answered);
  // All three at once.
  void confer(std::uint16_t cell, std::uint16_t tenant, Millis now) {
    hear(serve(ask(cell, tenant, now)));
  }

  // Of the etcd: what went through Raft.
  std::uint64_t writes() const noexcept { return writes_; }

 private:
  struct Standing {
    std::string text;
    std::int64_t revision = 1;
  };
  std::size_t place(std::uint16_t cell, std::uint16_t tenant) const {
    return std::size_t{cell} * tenants_ + tenant;
  }
  std::uint64_t sum_of(std::uint16_t tenant) const;

  std::uint16_t tenants_;
  Arm::Quota rule_;
  std::vector<fleet::CellQuota> cells_;  // by cell and tenant, as are:
  std::vector<std::uint64_t> used_;
  std::vector<std::uint64_t> last_sum_;
  std::vector<std::uint64_t> totals_;
  std::vector<Standing> standing_;
  std::uint64_t writes_ = 0;
};

}  // namespace cordon::simulation
