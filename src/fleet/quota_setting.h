// SPDX-License-Identifier: Apache-2.0
// An operator's word on a tenant's quota: the ledger in the etcd of all cells, changed upon the
// revision that it names.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "async/task.h"
#include "etcd/client.h"
#include "fleet/quota_ledger.h"

namespace cordon::fleet {

struct QuotaOrder {
  std::uint64_t total = 0;
  std::set<Cell> homes;
  friend bool operator==(const QuotaOrder&, const QuotaOrder&) = default;
};
// {"total": 100, "homes": [1, 2]}
Result<QuotaOrder> read_quota_order(std::string_view text);

// Whatever cells have taken of it meanwhile. Gives the ledger as it stands then.
async::Task<QuotaLedger> set_quota(etcd::Client& all, std::string tenant, QuotaOrder order);
// Errc::not_found: it has none.
async::Task<void> remove_quota(etcd::Client& all, std::string tenant);

}  // namespace cordon::fleet
