// SPDX-License-Identifier: Apache-2.0
// A cell and the ledger of a tenant's quota, where it stands: one round.
#pragma once

#include <string>
#include <string_view>

#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "fleet/cell_quota.h"

namespace cordon::fleet {

inline constexpr std::string_view kQuotas = "/cordon/quotas/";
// "/cordon/quotas/acme", in the global etcd. Before: a tenant's name has no slash.
std::string quota_key_of(std::string_view tenant);

// Changes the ledger where the cell has something to ask of it, else reads it: `quota` hears of
// what stands there either way. `client` is of the global etcd. After an error nobody knows whether
// the change was made; the next round tells, and until then the cell has the less. Errc::not_found:
// the tenant has no quota. To be called again well within CellQuota::kLoan, by one caller at a
// time.
async::Task<void> confer(etcd::Client& client, std::string key, CellQuota& quota,
                         const Clock& clock);

// The first round of a cell's new index: writes what stands there once more, so that nothing that
// an index before it has begun to change can be done any more. Else as above.
async::Task<void> claim(etcd::Client& client, std::string key, CellQuota& quota,
                        const Clock& clock);

}  // namespace cordon::fleet
