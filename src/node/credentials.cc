// SPDX-License-Identifier: Apache-2.0
#include "node/credentials.h"

#include <algorithm>

#include <boost/asio/this_coro.hpp>

#include "async/waiting.h"
#include "node/replacement.h"
#include "os/socket.h"

namespace cordon::node {
namespace {

constexpr const char* kTenant = "local";

}  // namespace

Credentials::Credentials(asio::any_io_executor executor, std::string sandbox,
                         std::vector<HeldGrant> grants, CredentialSources sources)
    : executor_{std::move(executor)},
      sandbox_{std::move(sandbox)},
      grants_{std::move(grants)},
      sources_{std::move(sources)},
      lost_{executor_, asio::steady_timer::time_point::max()},
      began_{std::chrono::steady_clock::now()} {}

async::Task<void> Credentials::bind_all() {
  const auto age =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_);
  // A copy: one may be revoked while we wait.
  const std::vector<HeldGrant> all = grants_;
  for (const HeldGrant& held : all) {
    const auto same = [&](const HeldGrant& kept) { return kept.grant.name == held.grant.name; };
    if (std::ranges::none_of(grants_, same)) continue;
    const std::chrono::seconds life{held.grant.ttl_seconds};
    // What has expired does not live again with a new broker.
    if (age >= life) continue;
    frame::BindGrant grant = binding_of(held.grant, sandbox_, kTenant, held.placeholder);
    grant.ttl_seconds = static_cast<std::uint64_t>((life - age).count());
    CO_TRY(SecretPlace place, co_await sources_.read(held.grant));
    grant.stored = std::move(place.stored);
    grant.ticket = place.ticket;
    CO_TRY_DO(co_await owner_->bind(std::move(grant), std::move(place.secret)));
  }
  co_return Status{};
}

async::Task<void> Credentials::reconnect() {
  CO_TRY(os::SocketPair pair, os::socketpair(os::SocketType::seqpacket));
  CO_TRY_DO(co_await owner_->serve_egress(kTenant, std::move(pair.one)));
  co_return co_await sources_.connect(std::move(pair.two));
}

async::Task<void> Credentials::start(async::Scope& scope) {
  CO_TRY(os::Fd link, co_await sources_.open());
  owner_ = std::make_shared<BrokerOwner>(
      executor_, std::move(link),
      BrokerOwner::Callbacks{.used = sources_.used, .lost = [this] { lost_.cancel(); }});
  scope.spawn(hear(owner_));
  CO_TRY_DO(co_await bind_all());
  co_return co_await reconnect();
}

async::Task<void> Credentials::revoke(std::string grant) {
  // First of all: whatever becomes of this broker, no other is told of it.
  std::erase_if(grants_, [&](const HeldGrant& held) { return held.grant.name == grant; });
  const std::shared_ptr<BrokerOwner> owner = owner_;
  if (!owner) co_return Status{};
  const auto revoked =
      co_await owner->revoke({.sandbox = sandbox_, .grant = std::move(grant), .tenant = {}});
  // A broker that has gone holds nothing.
  if (!revoked && !owner->is_lost()) co_return revoked.error();
  co_return Status{};
}

asio::awaitable<void> Credentials::keep(async::Scope& scope) {
  auto pause = kFirstPause;
  bool serves = true;
  for (;;) {
    const auto began = std::chrono::steady_clock::now();
    if (serves && !owner_->is_lost()) co_await lost_.async_wait(async::kQuiet);
    if ((co_await asio::this_coro::cancellation_state).cancelled() !=
        asio::cancellation_type::none) {
      co_return;
    }
    if (std::chrono::steady_clock::now() - began > kQuietLife) pause = kFirstPause;
    asio::steady_timer timer{executor_, pause};
    if (const auto [error] = co_await timer.async_wait(async::kQuiet); error) co_return;
    pause = std::min(pause * 2, kLongestPause);
    // A broker that has not all of them, or no way to the egress, is replaced like a dead one.
    serves = (co_await start(scope)).has_value();
  }
}

}  // namespace cordon::node
