// SPDX-License-Identifier: Apache-2.0
#include "node/tenant_broker.h"

#include <algorithm>
#include <utility>

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "async/waiting.h"
#include "base/log.h"
#include "node/replacement.h"
#include "os/socket.h"

namespace cordon::node {
namespace {

constexpr std::chrono::seconds kStart{10};

bool serves(const std::shared_ptr<BrokerOwner>& owner) { return owner && !owner->is_lost(); }

}  // namespace

TenantBroker::TenantBroker(asio::any_io_executor executor, const Clock& clock, std::string tenant,
                           Ways ways)
    : executor_{std::move(executor)},
      clock_{clock},
      tenant_{std::move(tenant)},
      ways_{std::move(ways)},
      news_{executor_, asio::steady_timer::time_point::max()} {}

void TenantBroker::hear_use(const frame::GrantUsed& use) const {
  const auto member = members_.find(use.sandbox);
  if (member != members_.end() && member->second.used) member->second.used(use);
}

async::Task<std::shared_ptr<BrokerOwner>> TenantBroker::wanted_owner() {
  is_wanted_ = true;
  news_.cancel();
  const Ticks late = std::chrono::steady_clock::now() + kStart;
  while (!serves(owner_)) {
    if (std::chrono::steady_clock::now() >= late) {
      co_return Error{Errc::unavailable, "the broker of secrets does not start"};
    }
    // Of its own: others wait for the same.
    asio::steady_timer look{executor_, std::chrono::milliseconds{5}};
    co_await look.async_wait(async::kQuiet);
  }
  co_return owner_;
}

async::Task<void> TenantBroker::bind(const std::shared_ptr<BrokerOwner>& owner, std::string sandbox,
                                     WallTime began, HeldGrant held) const {
  const auto age = std::chrono::floor<std::chrono::seconds>(clock_.wall() - began);
  const std::chrono::seconds life{held.grant.ttl_seconds};
  // What has expired does not live again with a new broker.
  if (age >= life) co_return Status{};
  frame::BindGrant wanted =
      binding_of(held.grant, std::move(sandbox), tenant_, std::move(held.placeholder));
  wanted.stored = held.grant.from;
  wanted.ttl_seconds =
      static_cast<std::uint64_t>((life - std::max(age, std::chrono::seconds{0})).count());
  co_return co_await owner->bind(std::move(wanted), {});
}

async::Task<void> TenantBroker::bind_again(const std::shared_ptr<BrokerOwner>& owner,
                                           std::function<bool(const HeldGrant&)> meant) {
  // A copy: one may end while we wait.
  const auto all = members_;
  for (const auto& [sandbox, granted] : all) {
    for (const HeldGrant& held : granted.grants) {
      if (!holds(sandbox, held) || !meant(held)) continue;
      const auto bound = co_await bind(owner, sandbox, granted.began, held);
      if (bound) continue;
      if (!serves(owner) || bound.error().code() == Errc::timeout) co_return bound.error();
      // Its secret was deleted: the others need not do without theirs.
      log(LogLevel::warning, "node", "a grant was not renewed",
          {{"sandbox", sandbox}, {"grant", held.grant.name}, {"why", bound.error().text()}});
    }
  }
  co_return Status{};
}

async::Task<void> TenantBroker::start(async::Scope& scope) {
  CO_TRY(os::Fd link, co_await ways_.open());
  const auto owner = std::make_shared<BrokerOwner>(
      executor_, std::move(link),
      BrokerOwner::Callbacks{.used = [this](const frame::GrantUsed& use) { hear_use(use); },
                             .lost = [this] { news_.cancel(); }});
  scope.spawn(hear(owner));
  CO_TRY_DO(co_await bind_again(owner, [](const HeldGrant&) { return true; }));
  CO_TRY_DO(co_await connect(owner));
  // From here on it is there for others: what they bind can be used.
  owner_ = owner;
  co_return Status{};
}

async::Task<void> TenantBroker::reconnect() {
  const auto owner = owner_;
  // One that comes is connected when it has come.
  if (!serves(owner)) co_return Status{};
  co_return co_await connect(owner);
}

async::Task<void> TenantBroker::connect(const std::shared_ptr<BrokerOwner>& owner) const {
  CO_TRY(os::SocketPair pair, os::socketpair(os::SocketType::seqpacket));
  CO_TRY_DO(co_await owner->serve_egress(tenant_, std::move(pair.one)));
  co_return co_await ways_.connect(std::move(pair.two));
}

asio::awaitable<void> TenantBroker::keep(async::Scope& scope) {
  auto pause = kFirstPause;
  for (;;) {
    while (!is_wanted_) co_await news_.async_wait(async::kQuiet);
    const Ticks began = std::chrono::steady_clock::now();
    const Status started = co_await start(scope);
    if (!started) {
      owner_.reset();
      log(LogLevel::error, "node", "no broker", {{"failure", started.error().text()}});
    }
    while (serves(owner_)) {
      while (serves(owner_) && !ended_.empty()) {
        const std::string sandbox = std::exchange(ended_.back(), {});
        ended_.pop_back();
        static_cast<void>(co_await owner_->revoke({.sandbox = sandbox, .grant = {}, .tenant = {}}));
      }
      if (serves(owner_)) co_await news_.async_wait(async::kQuiet);
    }
    ended_.clear();  // a new one has never heard of them
    if (std::chrono::steady_clock::now() - began > kQuietLife) pause = kFirstPause;
    asio::steady_timer timer{executor_, pause};
    co_await timer.async_wait(async::kQuiet);
    pause = std::min(pause * 2, kLongestPause);
  }
}

async::Task<void> TenantBroker::put(std::string name, WipedBytes secret) {
  CO_TRY(const auto owner, co_await wanted_owner());
  CO_TRY_DO(co_await owner->keep(tenant_, name, std::move(secret)));
  co_return co_await bind_again(owner,
                                [name](const HeldGrant& held) { return held.grant.from == name; });
}

async::Task<bool> TenantBroker::drop(std::string name) {
  // First of all: whatever becomes of this broker, no other is told of its grants.
  for (auto& [sandbox, granted] : members_) {
    std::erase_if(granted.grants, [&](const HeldGrant& held) { return held.grant.from == name; });
  }
  CO_TRY(const auto owner, co_await wanted_owner());
  co_return co_await owner->drop(tenant_, std::move(name));
}

async::Task<std::vector<std::string>> TenantBroker::names() {
  CO_TRY(const auto owner, co_await wanted_owner());
  co_return co_await owner->list(tenant_);
}

async::Task<void> TenantBroker::grant(std::string sandbox, GrantedSecrets granted) {
  CO_TRY(const auto owner, co_await wanted_owner());
  const std::vector<HeldGrant> all = granted.grants;
  const WallTime began = granted.began;
  // Before they are bound: a use is heard of from the first on.
  members_.insert_or_assign(sandbox, std::move(granted));
  for (const HeldGrant& held : all) {
    const auto bound = co_await bind(owner, sandbox, began, held);
    if (bound) continue;
    forget(sandbox);
    if (bound.error().code() != Errc::not_found) co_return bound.error();
    co_return Error{Errc::invalid,
                    fmt::format("credentials.grants: grant {} is from = \"secret:{}\", and the "
                                "tenant has no secret of that name; put it first",
                                held.grant.name, held.grant.from)};
  }
  co_return Status{};
}

async::Task<void> TenantBroker::grant_again(std::string sandbox, GrantedSecrets granted) {
  CO_TRY(const auto owner, co_await wanted_owner());
  const std::vector<HeldGrant> all = granted.grants;
  const WallTime began = granted.began;
  members_.insert_or_assign(sandbox, std::move(granted));
  for (const HeldGrant& held : all) {
    if (!holds(sandbox, held)) continue;
    const auto bound = co_await bind(owner, sandbox, began, held);
    if (bound) continue;
    if (bound.error().code() != Errc::not_found) {
      forget(sandbox);
      co_return bound.error();
    }
    if (const auto member = members_.find(sandbox); member != members_.end()) {
      std::erase(member->second.grants, held);
    }
  }
  co_return Status{};
}

std::vector<HeldGrant> TenantBroker::grants_of(const std::string& sandbox) const {
  const auto member = members_.find(sandbox);
  return member == members_.end() ? std::vector<HeldGrant>{} : member->second.grants;
}

// Not one that was dropped while we waited.
bool TenantBroker::holds(const std::string& sandbox, const HeldGrant& held) const {
  const auto member = members_.find(sandbox);
  return member != members_.end() &&
         std::ranges::find(member->second.grants, held) != member->second.grants.end();
}

void TenantBroker::forget(const std::string& sandbox) {
  if (members_.erase(sandbox) == 0) return;
  ended_.push_back(sandbox);
  news_.cancel();
}

}  // namespace cordon::node
