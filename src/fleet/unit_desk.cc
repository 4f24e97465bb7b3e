// SPDX-License-Identifier: Apache-2.0
#include "fleet/unit_desk.h"

#include <utility>

#include <fmt/format.h>

#include "base/log.h"
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

Result<std::uint64_t> UnitDesk::term() const {
  const auto now = readers_.term();
  if (!now || now != term_) return Error{Errc::unavailable, "this index does not act"};
  if (!has_swept_) {
    return Error{Errc::unavailable, "this index has not read every node of its cell yet"};
  }
  return *now;
}

// One round at a time for each tenant.
async::Task<void> UnitDesk::confer_once(std::string tenant, UnitBook::Shared account) {
  if (account->is_busy) co_return Status{};
  account->is_busy = true;
  TenantUnits& units = account->units;
  // What is given back is what nobody uses now.
  units.recount(index_.count(tenant));
  const Status done = account->is_claimed
                          ? co_await confer(all_, quota_key_of(tenant), units.quota(), clock_)
                          : co_await claim(all_, quota_key_of(tenant), units.quota(), clock_);
  account->is_busy = false;
  account->conferred_at = clock_.ticks();
  if (done) account->is_claimed = true;
  co_return done;
}

asio::awaitable<void> UnitDesk::confer_by(std::string tenant, UnitBook::Shared account) {
  const Status done = co_await confer_once(tenant, std::move(account));
  if (done || etcd::is_passing(done.error().code())) co_return;
  log(LogLevel::warning, "index", "the ledger of a quota is not conferred with",
      {{"tenant", tenant}, {"why", done.error().text()}});
}

asio::awaitable<void> UnitDesk::keep(async::Scope& scope) {
  for (;;) {
    const auto term = readers_.term();
    if (term != term_) {
      term_ = term;
      has_swept_ = false;
      book_.begin(term);
    }
    if (term) {
      const auto all_read = readers_.all_read_at();
      has_swept_ = has_swept_ || all_read.has_value();
      if (all_read) book_.forget_void(*all_read);
      const Ticks now = clock_.ticks();
      for (const auto& [tenant, account] : book_.accounts()) {
        const bool is_wanted = now - account->asked_at < kLate;
        const bool is_due = now - account->conferred_at >= (is_wanted ? kSoon : kLate);
        if (is_due && !account->is_busy) scope.spawn(confer_by(tenant, account));
      }
    }
    co_await etcd::sleep(kTurn);
  }
}

async::Task<UnitDesk::Answer> UnitDesk::take(std::string tenant, std::uint32_t wanted) {
  const Ticks patience = clock_.ticks() + kPatient;
  for (int round = 0;;) {
    CO_TRY(const std::uint64_t now_by, term());
    const UnitBook::Shared account = book_.account(tenant);
    const Ticks now = clock_.ticks();
    account->asked_at = now;
    if (account->is_claimed) {
      const auto chunk = book_.take(*account, index_.count(tenant), wanted, now);
      if (chunk.count > 0 || round >= kRounds) {
        Answer answer{.units = {},
                      .allowed = account->units.quota().allowed(now),
                      .used = account->units.quota().used()};
        const auto before =
            std::chrono::floor<std::chrono::seconds>(clock_.wall()) + TenantUnits::kTaken;
        for (std::uint64_t at = 0; at < chunk.count; ++at) {
          answer.units.push_back(
              {.index = now_by, .number = chunk.first + at, .before = WallTime{before}});
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
