// SPDX-License-Identifier: Apache-2.0
#include "fleet/revoked.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "async/waiting.h"
#include "base/bytes.h"
#include "base/log.h"
#include "etcd/mirror.h"

namespace cordon::fleet {

std::string key_of(const RevocationId& id) { return std::string{kRevocations} + to_hex(id); }

std::string encode(const Revocation& revocation) {
  return fmt::format("{}", revocation.until.time_since_epoch().count());
}

Result<Revocation> decode_revocation(std::string_view key, std::string_view value) {
  if (!key.starts_with(kRevocations)) return Error{Errc::invalid, "no key of a revocation"};
  TRY(const RevocationId id, token::revocation_id_from(key.substr(kRevocations.size())));
  std::int64_t seconds = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (failure != std::errc{} || end != value.data() + value.size() || seconds < 0) {
    return Error{Errc::invalid, "no time of a revocation"};
  }
  return Revocation{.id = id, .until = std::chrono::sys_seconds{std::chrono::seconds{seconds}}};
}

Revoked::Revoked(const asio::any_io_executor& executor) : news_{executor, async::kNever} {}

bool Revoked::has_any(const std::vector<RevocationId>& ids) const {
  return std::ranges::any_of(ids, [this](const RevocationId& id) { return has(id); });
}

void Revoked::add(const Revocation& revocation) {
  const auto [held, is_new] = held_.try_emplace(revocation.id, revocation.until);
  held->second = std::max(held->second, revocation.until);
  if (is_new) news_.cancel();
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

void Revoked::forget_useless(std::chrono::sys_seconds now) {
  std::erase_if(held_, [now](const auto& one) { return one.second < now; });
}

asio::awaitable<void> Revoked::until_any(std::vector<RevocationId> ids) const {
  while (!has_any(ids)) co_await news_.async_wait(async::kQuiet);
}

// KEY VALUE
std::string Revoked::saved() const {
  std::string text;
  for (const auto& [id, until] : held_) {
    text += key_of(id) + ' ' + encode(Revocation{id, until}) + '\n';
  }
  return text;
}

void Revoked::restore(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const auto one = decode_revocation(line.substr(0, space), line.substr(space + 1));
    if (one) add(*one);
  }
}

async::Task<void> follow_revocations(etcd::Client& client, Revoked& revoked) {
  etcd::Mirror mirror{client, std::string{kRevocations},
                      [&](const std::vector<etcd::Event>& events) { revoked.took(events); }};
  co_return co_await mirror.run();
}

}  // namespace cordon::fleet
