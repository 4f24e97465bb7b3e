// SPDX-License-Identifier: Apache-2.0
#include "node/revocations.h"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

namespace cordon::node {

Revocations::Revocations(const asio::any_io_executor& executor, journal::Journal& journal,
                         const std::vector<journal::Revocation>& known)
    : journal_{journal}, news_{executor, asio::steady_timer::time_point::max()} {
  for (const journal::Revocation& each : known) add(each);
}

void Revocations::add(const journal::Revocation& revocation) {
  const auto [held, is_new] =
      held_.try_emplace(revocation.id, Held{revocation.until, revocation.tenant});
  if (is_new) ++counts_[revocation.tenant];
  held->second.until = std::max(held->second.until, revocation.until);
}

void Revocations::forget_useless(WallTime now) {
  for (auto at = held_.begin(); at != held_.end();) {
    if (at->second.until >= now) {
      ++at;
      continue;
    }
    const auto count = counts_.find(at->second.tenant);
    if (--count->second == 0) counts_.erase(count);
    at = held_.erase(at);
  }
}

bool Revocations::has_any(const std::vector<RevocationId>& ids) const {
  return std::ranges::any_of(ids, [this](const RevocationId& id) { return has(id); });
}

async::Task<void> Revocations::revoke(journal::Revocation revocation, WallTime now) {
  forget_useless(now);
  const auto count = counts_.find(revocation.tenant);
  const bool is_full = count != counts_.end() && count->second >= kMostOfATenant;
  if (is_full && !revocation.tenant.empty() && !has(revocation.id)) {
    co_return Error{Errc::exhausted,
                    fmt::format("tenant {} has taken back {} tokens that would still hold; take "
                                "back the one that they were made of, or ask the operator",
                                revocation.tenant, kMostOfATenant)};
  }
  // Before it is written: a revocation that cannot be kept still holds for as long as we live.
  add(revocation);
  news_.cancel();
  co_return co_await journal_.write(journal::Durability::power,
                                    [revocation, now](journal::Ledger& ledger) -> Status {
                                      TRY_DO(ledger.sweep_revocations(now));
                                      return ledger.revoke(revocation);
                                    });
}

asio::awaitable<void> Revocations::until_any(std::vector<RevocationId> ids) {
  while (!has_any(ids)) co_await news_.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace cordon::node
