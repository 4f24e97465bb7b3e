// SPDX-License-Identifier: Apache-2.0
#include "fleet/spread.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "async/deadline.h"
#include "async/waiting.h"
#include "base/bytes.h"
#include "base/log.h"

namespace cordon::fleet {
namespace {

// Of a node that is asked, and of etcd before it counts as away. Together within the second.
constexpr std::chrono::milliseconds kTold{900};
constexpr std::chrono::seconds kAgain{1};

}  // namespace

Spread::Spread(const asio::any_io_executor& executor, etcd::Client& client, Revoked& revoked,
               Nodes& nodes, const Clock& clock)
    : client_{client},
      revoked_{revoked},
      nodes_{nodes},
      clock_{clock},
      news_{executor, async::kNever} {}

asio::awaitable<void> Spread::tell(NodeId node, Revocation revocation) {
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.wall());
  const auto left = std::max<std::chrono::seconds>(revocation.until - now, std::chrono::seconds{1});
  Nodes::Question question{.method = "POST",
                           .path = fmt::format("/v1/tokens/revoke?id={}&seconds={}",
                                               to_hex(revocation.id), left.count())};
  const auto told = co_await async::within(kTold, nodes_.ask(node, std::move(question)));
  if (told && told->status < 300) co_return;
  log(LogLevel::warning, "gateway", "a node was not told what was taken back",
      {{"node", to_string(node)},
       {"why", told ? fmt::format("it answers {}", told->status) : told.error().text()}});
}

async::Task<void> Spread::write(Revocation revocation) {
  // Twice the same is the same: it may be repeated.
  CO_TRY_DO(
      co_await client_.put({.key = key_of(revocation.id), .value = encode(revocation)}, kTold));
  co_return Status{};
}

async::Task<void> Spread::revoke(Revocation revocation) {
  revoked_.add(revocation);
  co_return co_await async::in_scope(
      [](async::Scope& scope, Spread*& self, Revocation& what) -> async::Task<void> {
        for (const NodeId node : self->nodes_.roster().all()) {
          if (self->nodes_.standing(node).value_or(Standing::dead) == Standing::dead) continue;
          scope.spawn(self->tell(node, what));
        }
        // Whoever asked may leave meanwhile: then it is written all the same.
        self->waiting_.push_back(what);
        const Status written = co_await self->write(what);
        if (written) {
          std::erase(self->waiting_, what);
        } else {
          log(LogLevel::warning, "gateway", "etcd was not told yet what was taken back",
              {{"why", written.error().text()}});
        }
        self->news_.cancel();
        co_await scope.join();
        co_return Status{};
      },
      this, revocation);
}

asio::awaitable<void> Spread::forget(RevocationId id) {
  const auto gone = co_await client_.remove({.keys = etcd::only(key_of(id))}, kTold);
  if (!gone) {
    log(LogLevel::info, "gateway", "an old revocation stays in etcd",
        {{"why", gone.error().text()}});
  }
}

asio::awaitable<void> Spread::keep() {
  asio::steady_timer pause{news_.get_executor()};
  for (;;) {
    if (waiting_.empty()) {
      co_await news_.async_wait(async::kQuiet);
      continue;
    }
    const Revocation next = waiting_.front();
    if (co_await write(next)) {
      std::erase(waiting_, next);
      continue;
    }
    pause.expires_after(kAgain);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

}  // namespace cordon::fleet
