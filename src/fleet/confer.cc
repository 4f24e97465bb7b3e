// SPDX-License-Identifier: Apache-2.0
#include "fleet/confer.h"

#include <utility>

#include "etcd/values.h"

namespace cordon::fleet {
namespace {

Status hear(CellQuota& quota, const etcd::Found& found, Ticks asked) {
  if (found.values.empty()) return Error{Errc::not_found, "the tenant has no quota"};
  const etcd::KeyValue& standing = found.values.front();
  TRY(const QuotaLedger ledger, decode_quota(standing.value));
  quota.heard(ledger, standing.mod_revision, asked);
  return {};
}

// Writes `ledger` where `base` still stands, and hears of what stands there then. False: something
// else does.
async::Task<bool> write(etcd::Client& client, std::string key, CellQuota::Change change,
                        CellQuota& quota, Ticks asked) {
  etcd::Txn txn{.when = {{.key = key, .than = etcd::Compare::ModRevision{change.base}}},
                .then = {etcd::Put{.key = key, .value = encode(change.ledger)}},
                .otherwise = {etcd::Range{.keys = etcd::only(key)}}};
  CO_TRY(const etcd::Decided decided,
         co_await client.txn(std::move(txn), etcd::Client::kOneMember));
  if (decided.held) {
    quota.heard(change.ledger, decided.origin.revision, asked);
    co_return true;
  }
  if (decided.answers.size() != 1 || !std::holds_alternative<etcd::Found>(decided.answers[0])) {
    co_return Error{Errc::internal, "etcd: an answer to what was not asked"};
  }
  CO_TRY_DO(hear(quota, std::get<etcd::Found>(decided.answers[0]), asked));
  co_return false;
}

async::Task<void> read(etcd::Client& client, std::string key, CellQuota& quota, Ticks asked) {
  CO_TRY(const etcd::Found found, co_await client.range({.keys = etcd::only(std::move(key))}));
  co_return hear(quota, found, asked);
}

}  // namespace

std::string quota_key_of(std::string_view tenant) { return std::string{kQuotas}.append(tenant); }

async::Task<void> confer(etcd::Client& client, std::string key, CellQuota& quota,
                         const Clock& clock) {
  const Ticks asked = clock.ticks();
  auto change = quota.next_change(asked);
  if (!change) co_return co_await read(client, std::move(key), quota, asked);
  CO_TRY_DO(co_await write(client, std::move(key), *std::move(change), quota, asked));
  co_return Status{};
}

async::Task<void> claim(etcd::Client& client, std::string key, CellQuota& quota,
                        const Clock& clock) {
  const Ticks asked = clock.ticks();
  CO_TRY_DO(co_await read(client, key, quota, asked));
  for (bool is_ours = false; !is_ours;) {
    CO_TRY(is_ours, co_await write(client, key, quota.as_known(), quota, asked));
  }
  co_return Status{};
}

}  // namespace cordon::fleet
