// SPDX-License-Identifier: Apache-2.0
#include "fleet/quota_setting.h"

#include <limits>
#include <utility>
#include <variant>

#include "etcd/sleep.h"
#include "etcd/status.h"
#include "fleet/confer.h"
#include "policy/problem.h"
#include "policy/value.h"

namespace cordon::fleet {
namespace {

constexpr int kMostRounds = 20;
constexpr std::int64_t kLargestQuota = 1'000'000'000;

Error wrong_order() {
  return Error{Errc::invalid,
               "a quota is {\"total\": NUMBER, \"homes\": [CELL, ...]}: up to 1000000000, and at "
               "least one cell"};
}

}  // namespace

Result<QuotaOrder> read_quota_order(std::string_view text) {
  policy::Problems problems{"request"};
  const auto read = policy::read_json(text, problems);
  if (!read || read->table() == nullptr) return wrong_order();
  const policy::Value* const total = read->find("total");
  const policy::Value* const homes = read->find("homes");
  const bool is_whole = total != nullptr && total->integer() != nullptr && homes != nullptr &&
                        homes->list() != nullptr && read->table()->size() == 2;
  if (!is_whole || *total->integer() < 0 || *total->integer() > kLargestQuota) {
    return wrong_order();
  }
  QuotaOrder order{.total = static_cast<std::uint64_t>(*total->integer()), .homes = {}};
  for (const policy::Value& one : *homes->list()) {
    const std::int64_t* const cell = one.integer();
    if (cell == nullptr || *cell < 0 || *cell > std::numeric_limits<Cell>::max()) {
      return wrong_order();
    }
    order.homes.insert(static_cast<Cell>(*cell));
  }
  if (order.homes.empty()) return wrong_order();
  return order;
}

async::Task<QuotaLedger> set_quota(etcd::Client& all, std::string tenant, QuotaOrder order) {
  const std::string key = quota_key_of(tenant);
  for (int round = 0; round < kMostRounds; ++round) {
    CO_TRY(const etcd::Found found, co_await all.range({.keys = etcd::only(key)}));
    QuotaLedger ledger{.total = order.total, .homes = order.homes};
    etcd::Revision base = 0;
    if (!found.values.empty()) {
      base = found.values.front().mod_revision;
      // One that nobody can read is written over: it gave nothing to anybody.
      if (auto standing = decode_quota(found.values.front().value)) {
        ledger = *std::move(standing);
        ledger.resize(order.total, order.homes);
      }
    }
    etcd::Txn txn{.when = {{.key = key, .than = etcd::Compare::ModRevision{base}}},
                  .then = {etcd::Put{.key = key, .value = encode(ledger)}},
                  .otherwise = {}};
    const auto decided = co_await all.txn(std::move(txn), etcd::Client::kOneMember);
    if (decided && decided->held) co_return ledger;
    // Done or not: setting it once more is the same.
    if (!decided && !etcd::is_passing(decided.error().code())) co_return decided.error();
    if (!decided) co_await etcd::sleep(std::chrono::milliseconds{100});
  }
  co_return Error{Errc::timeout, "the ledger of " + tenant + " changes as fast as it is written"};
}

async::Task<void> remove_quota(etcd::Client& all, std::string tenant) {
  CO_TRY(const etcd::Removed removed,
         co_await all.remove({.keys = etcd::only(quota_key_of(tenant))}));
  if (removed.count == 0) co_return Error{Errc::not_found, tenant + " has no quota of the fleet"};
  co_return Status{};
}

}  // namespace cordon::fleet
