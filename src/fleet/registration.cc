// SPDX-License-Identifier: Apache-2.0
#include "fleet/registration.h"

#include <random>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "async/waiting.h"
#include "etcd/lease.h"
#include "etcd/sleep.h"
#include "etcd/status.h"

namespace cordon::fleet {
namespace {

using std::chrono::milliseconds;

// A fleet whose leases were all lost does not come back in one moment.
constexpr milliseconds kSpread{1000};

milliseconds between(milliseconds least, milliseconds most) {
  std::random_device device;
  return milliseconds{
      std::uniform_int_distribution<std::int64_t>{least.count(), most.count()}(device)};
}

}  // namespace

// One lease's time.
struct Registration::Holding {
  Holding(const asio::any_io_executor& executor, etcd::LeaseId id) : wake{executor}, lease{id} {}
  asio::steady_timer wake;
  etcd::LeaseId lease;
  bool is_changed = false;
  std::optional<Error> lost;
};

Registration::Registration(etcd::Client& client, NodeId node, std::uint32_t epoch, Rules rules,
                           Tell tell)
    : client_{client},
      epoch_{epoch},
      rules_{rules},
      tell_{std::move(tell)},
      key_{client, key_of(node),
           [this](const etcd::KeyValue& standing) { return may_replace(standing); }} {}

// Nobody but this node and an operator can write its key. What cannot be read was not written by a
// later start.
bool Registration::may_replace(const etcd::KeyValue& standing) const {
  const auto summary = decode_summary(standing.value);
  return !summary || (!summary->is_expelled && summary->gauge.at.epoch <= epoch_);
}

asio::awaitable<void> Registration::keep(std::shared_ptr<Holding> holding) {
  const Status ended = co_await etcd::keep_alive(client_, holding->lease, rules_.ttl,
                                                 [this](Ticks until) { until_ = until; });
  holding->lost = ended.error();  // it ends no other way
  holding->wake.cancel();
}

async::Task<void> Registration::publish(std::shared_ptr<Holding> holding) {
  etcd::Pause pause;
  while (!holding->lost) {
    const Summary now = tell_();
    milliseconds wait = between(rules_.every * 4 / 5, rules_.every);
    if (!written_ || differs(*written_, now)) {
      const Status done = co_await key_.write(encode(now), holding->lease);
      if (done) {
        written_ = now;
        pause.reset();
      } else if (etcd::is_passing(done.error().code())) {
        wait = pause.next();
      } else {
        co_return done.error();
      }
    }
    // Changed while that was written.
    if (std::exchange(holding->is_changed, false)) continue;
    holding->wake.expires_after(wait);
    co_await holding->wake.async_wait(async::kQuiet);
    holding->is_changed = false;
  }
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the loop has ended
  co_return *holding->lost;
}

async::Task<void> Registration::hold(async::Scope& scope, Registration*& self,
                                     std::shared_ptr<Holding>& holding) {
  scope.spawn(self->keep(holding));
  Status ended = co_await self->publish(holding);
  scope.cancel();
  co_return ended;
}

async::Task<void> Registration::run() {
  etcd::Pause pause;
  for (;;) {
    lease_ = etcd::fresh_lease_id();
    written_.reset();
    Status ended = co_await client_.grant(lease_, rules_.ttl);
    if (ended) {
      pause.reset();
      auto holding = std::make_shared<Holding>(co_await asio::this_coro::executor, lease_);
      holding_ = holding;
      ended = co_await async::in_scope(hold, this, std::move(holding));
      until_.reset();
    }
    const Errc why = ended.error().code();  // neither of the two ends well
    if (why == Errc::not_found) {
      co_await etcd::sleep(between(milliseconds{0}, kSpread));
    } else if (etcd::is_passing(why)) {
      co_await etcd::sleep(pause.next());
    } else {
      co_return ended;
    }
  }
}

void Registration::changed() {
  const auto holding = holding_.lock();
  if (!holding) return;
  holding->is_changed = true;
  holding->wake.cancel();
}

async::Task<void> Registration::leave() {
  CO_TRY_DO(co_await key_.remove());
  co_return co_await client_.revoke(lease_);
}

}  // namespace cordon::fleet
