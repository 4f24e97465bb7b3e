// SPDX-License-Identifier: Apache-2.0
#include "node/api_keys.h"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/id.h"
#include "base/log.h"
#include "os/random.h"
#include "token/api_key.h"
#include "token/kept_authority.h"

namespace cordon::node {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kAboutKey = "cordon api key\0"sv;

// By which keys that were made with this one are known, and its budgets are counted.
RevocationId id_of(const journal::Digest& digest) {
  const Digest whole = sha256({as_bytes(kAboutKey), digest});
  RevocationId id{};
  std::copy_n(whole.begin(), id.size(), id.begin());
  return id;
}

}  // namespace

ApiKeys::ApiKeys(const asio::any_io_executor& executor, journal::Journal& journal,
                 const Revocations& revocations, const std::vector<journal::KeyRow>& known)
    : journal_{journal},
      revocations_{revocations},
      news_{executor, asio::steady_timer::time_point::max()} {
  for (const journal::KeyRow& row : known) {
    auto authority = token::read_kept(row.authority);
    if (!authority) {
      log(LogLevel::error, "node", "an API key in the journal is none",
          {{"key", row.id}, {"failure", authority.error().text()}});
      continue;
    }
    auto key = std::make_shared<const ApiKey>(
        ApiKey{row.id, row.tenant, row.label, row.created, *std::move(authority)});
    keys_.emplace(row.id, Held{std::move(key), row.digest});
    ids_.emplace(row.digest, row.id);
  }
}

void ApiKeys::forget(const std::string& id) {
  const auto found = keys_.find(id);
  if (found == keys_.end()) return;
  ids_.erase(found->second.digest);
  keys_.erase(found);
}

std::vector<std::string> ApiKeys::useless(WallTime now) const {
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  std::vector<std::string> ids;
  for (const auto& [id, held] : keys_) {
    const token::Authority& authority = held.key->authority;
    if (authority.is_expired(second) || revocations_.has_any(authority.revocations())) {
      ids.push_back(id);
    }
  }
  return ids;
}

async::Task<void> ApiKeys::drop(std::vector<std::string> ids) {
  // Before it is written: one that cannot be removed is still none for as long as we live.
  for (const std::string& id : ids) forget(id);
  news_.cancel();
  co_return co_await journal_.write(journal::Durability::power,
                                    [ids = std::move(ids)](journal::Ledger& ledger) -> Status {
                                      for (const std::string& id : ids)
                                        TRY_DO(ledger.remove_key(id));
                                      return {};
                                    });
}

async::Task<ApiKeys::Made> ApiKeys::make(Order order, const token::Authority& maker, WallTime now) {
  if (auto dead = useless(now); !dead.empty()) CO_TRY_DO(co_await drop(std::move(dead)));
  const auto of_tenant = std::ranges::count_if(
      keys_, [&](const auto& each) { return each.second.key->tenant == order.tenant; });
  if (static_cast<std::size_t>(of_tenant) >= kMostOfATenant) {
    co_return Error{Errc::exhausted,
                    fmt::format("there are {} API keys already; delete one", kMostOfATenant)};
  }
  CO_TRY(const auto random, os::random_bytes<token::kApiKeyBytes>());
  CO_TRY(const auto name, os::random_bytes<10>());
  std::string text = token::api_key_from(random);
  CO_TRY(const journal::Digest digest, token::api_key_digest(text));
  ApiKey key{.id = base32(name),
             .tenant = order.tenant,
             .label = order.label,
             .created = now,
             .authority = maker};
  const RevocationId own = id_of(digest);
  for (const token::Caveat& caveat : order.caveats) key.authority.narrow(caveat, own);
  if (!order.tenant.empty() && key.authority.tenant() != order.tenant) {
    key.authority.narrow(token::TenantIs{order.tenant}, own);
  }
  key.authority.add_revocation(own);
  CO_TRY(std::vector<std::byte> kept, token::write_kept(key.authority));
  // What would not be taken at the next start is not made.
  CO_TRY_DO(token::read_kept(kept));
  journal::KeyRow row{key.id, digest, key.tenant, key.label, now, std::move(kept)};
  const auto shared = std::make_shared<const ApiKey>(std::move(key));
  keys_.emplace(shared->id, Held{shared, digest});
  const auto written = co_await journal_.write(
      journal::Durability::power,
      [row = std::move(row)](journal::Ledger& ledger) { return ledger.add_key(row); });
  if (!written) {
    forget(shared->id);
    co_return written.error();
  }
  // It may have been deleted by its name meanwhile.
  if (has(shared->id)) ids_.emplace(digest, shared->id);
  co_return Made{shared, std::move(text)};
}

std::shared_ptr<const ApiKey> ApiKeys::find(std::string_view text) const {
  const auto digest = token::api_key_digest(text);
  if (!digest) return nullptr;
  const auto id = ids_.find(*digest);
  if (id == ids_.end()) return nullptr;
  return keys_.at(id->second).key;
}

std::vector<std::shared_ptr<const ApiKey>> ApiKeys::list(const std::string& tenant) const {
  std::vector<std::shared_ptr<const ApiKey>> found;
  for (const auto& [id, held] : keys_) {
    if (tenant.empty() || held.key->tenant == tenant) found.push_back(held.key);
  }
  return found;
}

async::Task<bool> ApiKeys::remove(std::string tenant, std::string id) {
  const auto found = keys_.find(id);
  if (found == keys_.end()) co_return false;
  if (!tenant.empty() && found->second.key->tenant != tenant) co_return false;
  const RevocationId own = id_of(found->second.digest);
  std::vector<std::string> all;
  for (const auto& [name, held] : keys_) {
    const auto& ids = held.key->authority.revocations();
    if (std::ranges::find(ids, own) != ids.end()) all.push_back(name);
  }
  CO_TRY_DO(co_await drop(std::move(all)));
  co_return true;
}

asio::awaitable<void> ApiKeys::until_gone(std::string id) {
  while (has(id)) co_await news_.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace cordon::node
