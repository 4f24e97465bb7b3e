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

}  // namespace

std::string quota_key_of(std::string_view tenant) {
  return std::string{"/cordon/quotas/"}.append(tenant);
}

async::Task<void> confer(etcd::Client& client, std::string key, CellQuota& quota,
                         const Clock& clock) {
  const Ticks asked = clock.ticks();
  const auto change = quota.next_change(asked);
  if (!change) {
    CO_TRY(const etcd::Found found, co_await client.range({.keys = etcd::only(key)}));
    co_return hear(quota, found, asked);
  }
  etcd::Txn txn{.when = {{.key = key, .than = etcd::Compare::ModRevision{change->base}}},
                .then = {etcd::Put{.key = key, .value = encode(change->ledger)}},
                .otherwise = {etcd::Range{.keys = etcd::only(key)}}};
  CO_TRY(const etcd::Decided decided,
         co_await client.txn(std::move(txn), etcd::Client::kOneMember));
  if (decided.held) {
    quota.heard(change->ledger, decided.origin.revision, asked);
    co_return Status{};
  }
  if (decided.answers.size() != 1 || !std::holds_alternative<etcd::Found>(decided.answers[0])) {
    co_return Error{Errc::internal, "etcd: an answer to what was not asked"};
  }
  co_return hear(quota, std::get<etcd::Found>(decided.answers[0]), asked);
}

}  // namespace cordon::fleet
