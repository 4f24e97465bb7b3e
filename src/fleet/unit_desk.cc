// SPDX-License-Identifier: Apache-2.0
#include "fleet/unit_desk.h"

#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "etcd/mirror.h"
#include "etcd/sleep.h"
#include "etcd/status.h"
#include "fleet/confer.h"

namespace cordon::fleet {
namespace {

constexpr std::chrono::milliseconds kBusy{20};
constexpr std::chrono::milliseconds kPatient{1'000};
// Of a tenant that has nothing left here, before it is told so: what others give back comes by
// these.
constexpr int kRounds = 3;

}  // namespace

void UnitDesk::look() {
  if (const auto elected = readers_.elected(); elected != term_) {
    term_ = elected;
    has_swept_ = false;
    if (elected) book_.begin(*elected);
  }
  has_swept_ = has_swept_ || readers_.all_read_at().has_value();
}

Result<std::uint64_t> UnitDesk::term() {
  look();
  const auto now = readers_.term();
  if (!now || now != term_) return Error{Errc::unavailable, "this index does not act"};
  return *now;
}

bool UnitDesk::gives() { return term().has_value() && has_swept_; }

// One round at a time for each tenant.
async::Task<void> UnitDesk::confer_once(std::string tenant, UnitBook::Shared account) {
  if (account->is_busy) co_return Status{};
  const UnitBook::Busy busy{account};
  TenantUnits& units = account->units;
  // What is given back is what nobody uses now.
  units.recount(index_.count(tenant));
  const Status done = account->is_claimed
                          ? co_await confer(all_, quota_key_of(tenant), units.quota(), clock_)
                          : co_await claim(all_, quota_key_of(tenant), units.quota(), clock_);
  account->conferred_at = clock_.ticks();
  if (done) account->is_claimed = true;
  co_return done;
}

asio::awaitable<void> UnitDesk::confer_by(std::string tenant, UnitBook::Shared account) {
  const Status done = co_await confer_once(tenant, std::move(account));
  if (done || etcd::is_passing(done.error().code())) co_return;
  if (done.error().code() == Errc::not_found) {
    book_.close(tenant);
    co_return;
  }
  log(LogLevel::warning, "index", "the ledger of a quota is not conferred with",
      {{"tenant", tenant}, {"why", done.error().text()}});
}

// What is heard so is as good as what is asked for, but for how late it may be: no loan is good for
// longer by it.
void UnitDesk::heard(const etcd::Event& event) {
  const std::string tenant = event.now.key.substr(kQuotas.size());
  called_.erase(tenant);
  if (event.kind == etcd::Event::Kind::removed) return;
  const auto ledger = decode_quota(event.now.value);
  if (!ledger) return;
  const auto found = book_.accounts().find(tenant);
  if (found != book_.accounts().end() && found->second->is_claimed) {
    found->second->units.quota().heard(*ledger, event.now.mod_revision, Ticks{});
  }
  const bool is_called = ledger->is_wanted_by_others(cell_) || ledger->excess() > 0;
  if (is_called && ledger->held_by(cell_) > 0) called_.insert(tenant);
}

asio::awaitable<void> UnitDesk::follow() {
  etcd::Mirror mirror{all_, std::string{kQuotas}, [this](const std::vector<etcd::Event>& events) {
                        for (const etcd::Event& event : events) heard(event);
                      }};
  const Status ended = co_await mirror.run();
  log(LogLevel::error, "index", "quotas are not followed: what others want is not given back",
      {{"why", ended ? std::string{"it ended"} : ended.error().text()}});
}

void UnitDesk::confer_where_due(async::Scope& scope) {
  // Also of those whom nobody asks for here: others may have what this cell does not use.
  for (const std::string& tenant : called_) static_cast<void>(book_.account(tenant));
  const Ticks now = clock_.ticks();
  for (const auto& [tenant, account] : book_.accounts()) {
    const bool is_wanted = now - account->asked_at < kLate || called_.contains(tenant);
    const bool is_due = now - account->conferred_at >= (is_wanted ? kSoon : kLate);
    if (is_due && !account->is_busy) scope.spawn(confer_by(tenant, account));
  }
}

asio::awaitable<void> UnitDesk::keep(async::Scope& scope) {
  scope.spawn(follow());
  for (;;) {
    look();
    if (const auto all_read = readers_.all_read_at()) book_.forget_void(*all_read);
    // Before all is read nobody knows what is not used.
    if (gives()) confer_where_due(scope);
    co_await etcd::sleep(kTurn);
  }
}

async::Task<UnitDesk::Answer> UnitDesk::take(std::string tenant, std::uint32_t wanted) {
  const Ticks patience = clock_.ticks() + kPatient;
  for (int round = 0;;) {
    CO_TRY(const std::uint64_t now_by, term());
    if (!has_swept_) {
      if (clock_.ticks() >= patience) {
        co_return Error{Errc::unavailable, "this index has not read every node of its cell yet"};
      }
      co_await etcd::sleep(kBusy);
      continue;
    }
    const UnitBook::Shared account = book_.account(tenant);
    const Ticks now = clock_.ticks();
    account->asked_at = now;
    if (account->is_claimed) {
      const auto taken = book_.take(*account, index_.count(tenant), wanted, now);
      // The ledger was asked just now, and whoever gives something back is heard of.
      const bool is_known_empty =
          now - account->conferred_at < kTurn && account->units.quota().known().pool() <= 0;
      if (!taken.empty() || round >= kRounds || is_known_empty) {
        Answer answer{.units = {},
                      .allowed = account->units.quota().allowed(now),
                      .used = account->units.quota().used(),
                      .unread = readers_.unread(kUnread)};
        const auto before =
            std::chrono::floor<std::chrono::seconds>(clock_.wall()) + TenantUnits::kTaken;
        for (const std::uint64_t number : taken) {
          answer.units.push_back({.index = now_by, .number = number, .before = WallTime{before}});
        }
        co_return answer;
      }
    } else if (round >= kRounds) {
      co_return Error{Errc::unavailable,
                      fmt::format("the ledger of {} cannot be read: etcd does not answer", tenant)};
    }
    if (account->is_busy && clock_.ticks() < patience) {
      co_await etcd::sleep(kBusy);
      continue;
    }
    ++round;
    const Status done = co_await confer_once(tenant, account);
    if (done || etcd::is_passing(done.error().code())) continue;
    if (done.error().code() == Errc::not_found) book_.close(tenant);
    co_return done.error();
  }
}

}  // namespace cordon::fleet
