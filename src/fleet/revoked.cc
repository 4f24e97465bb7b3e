// SPDX-License-Identifier: Apache-2.0
#include "fleet/revoked.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "async/waiting.h"
#include "base/bytes.h"
#include "base/log.h"
#include "etcd/mirror.h"
#include "token/caveat.h"
#include "token/key.h"

namespace cordon::fleet {

std::string key_of(const RevocationId& id) { return std::string{kRevocations} + to_hex(id); }

std::string encode(const Revocation& revocation) {
  const auto seconds = revocation.until.time_since_epoch().count();
  return revocation.tenant.empty() ? fmt::format("{}", seconds)
                                   : fmt::format("{} {}", seconds, revocation.tenant);
}

Result<Revocation> decode_revocation(std::string_view key, std::string_view value) {
  if (!key.starts_with(kRevocations)) return Error{Errc::invalid, "no key of a revocation"};
  TRY(const RevocationId id, token::revocation_id_from(key.substr(kRevocations.size())));
  std::int64_t seconds = 0;
  const std::string_view digits = value.substr(0, value.find(' '));
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  if (failure != std::errc{} || end != digits.data() + digits.size() || seconds < 0) {
    return Error{Errc::invalid, "no time of a revocation"};
  }
  std::string tenant;
  if (digits.size() < value.size()) tenant = value.substr(digits.size() + 1);
  if (!tenant.empty() && !token::is_name(tenant, token::kLongestTenant)) {
    return Error{Errc::invalid, "no tenant of a revocation"};
  }
  return Revocation{.id = id,
                    .until = std::chrono::sys_seconds{std::chrono::seconds{seconds}},
                    .tenant = std::move(tenant)};
}

Revoked::Revoked(const asio::any_io_executor& executor) : news_{executor, async::kNever} {}

bool Revoked::has_any(const std::vector<RevocationId>& ids) const {
  return std::ranges::any_of(ids, [this](const RevocationId& id) { return has(id); });
}

void Revoked::add(const Revocation& revocation) {
  const auto [held, is_new] = held_.try_emplace(revocation.id, Held{revocation.until});
  held->second.until = std::max(held->second.until, revocation.until);
  if (!is_new) return;
  held->second.account = account_of(revocation.tenant);
  ++accounts_[held->second.account].count;
  news_.cancel();
}

std::uint32_t Revoked::account_of(const std::string& tenant) {
  if (tenant.empty()) return 0;
  const auto [number, is_new] =
      numbers_.try_emplace(tenant, static_cast<std::uint32_t>(accounts_.size()));
  if (is_new) accounts_.push_back({.tenant = tenant});
  return number->second;
}

bool Revoked::has_room_for(const std::string& tenant) const {
  const auto number = numbers_.find(tenant);
  return number == numbers_.end() || accounts_[number->second].count < kMostOfATenant;
}

void Revoked::took(std::span<const etcd::Event> events) {
  for (const etcd::Event& event : events) {
    if (event.kind == etcd::Event::Kind::removed) continue;
    const auto revocation = decode_revocation(event.now.key, event.now.value);
    if (revocation) {
      add(*revocation);
    } else {
      log(LogLevel::warning, "fleet", "a revocation that nobody can read",
          {{"key", event.now.key}, {"why", revocation.error().text()}});
    }
  }
}

std::vector<RevocationId> Revoked::forget_useless(std::chrono::sys_seconds now) {
  std::vector<RevocationId> useless;
  for (const auto& [id, held] : held_) {
    if (held.until < now) useless.push_back(id);
  }
  for (const RevocationId& id : useless) {
    const auto found = held_.find(id);
    --accounts_[found->second.account].count;
    held_.erase(found);
  }
  return useless;
}

asio::awaitable<void> Revoked::until_any(std::vector<RevocationId> ids) const {
  while (!has_any(ids)) co_await news_.async_wait(async::kQuiet);
}

asio::awaitable<void> Revoked::until_known() const {
  while (!is_known_) co_await news_.async_wait(async::kQuiet);
}

// KEY VALUE
std::string lines_of(const std::vector<Revocation>& revocations) {
  std::string text;
  for (const Revocation& one : revocations) text += key_of(one.id) + ' ' + encode(one) + '\n';
  return text;
}

std::vector<Revocation> revocations_in(std::string_view text) {
  std::vector<Revocation> all;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto space = line.find(' ');
    if (space == std::string_view::npos) continue;
    auto one = decode_revocation(line.substr(0, space), line.substr(space + 1));
    if (one) all.push_back(*std::move(one));
  }
  return all;
}

std::string Revoked::saved() const {
  std::vector<Revocation> all;
  all.reserve(held_.size());
  for (const auto& [id, held] : held_)
    all.push_back({id, held.until, accounts_[held.account].tenant});
  return lines_of(all);
}

void Revoked::restore(std::string_view text) {
  for (const Revocation& one : revocations_in(text)) add(one);
}

async::Task<void> follow_revocations(etcd::Client& client, Revoked& revoked) {
  etcd::Mirror mirror{client, std::string{kRevocations},
                      [&](const std::vector<etcd::Event>& events) {
                        revoked.took(events);
                        revoked.know();
                      }};
  co_return co_await mirror.run();
}

}  // namespace cordon::fleet
