// SPDX-License-Identifier: Apache-2.0
#include "fleet/purses.h"

#include <algorithm>

#include <fmt/format.h>

#include "async/waiting.h"
#include "base/log.h"
#include "etcd/mirror.h"
#include "etcd/sleep.h"
#include "etcd/status.h"
#include "fleet/confer.h"
#include "fleet/tenant_units.h"
#include "fleet/units_message.h"

namespace cordon::fleet {
namespace {

constexpr std::chrono::milliseconds kUnitsWithin{1'500};
constexpr std::chrono::milliseconds kGiveBack{300};
// Of those that are given back with one question.
constexpr std::size_t kMostUnused = 256;
// So long nobody asks again who was told that there is none left.
constexpr std::chrono::milliseconds kRefused{200};
// For an index to begin, where the one before does not answer any more.
constexpr std::chrono::milliseconds kOther{500};
constexpr std::uint32_t kMostWanted = 32;

}  // namespace

Purses::Purses(const asio::any_io_executor& executor, Indexes& indexes, const Clock& clock)
    : indexes_{indexes},
      clock_{clock},
      news_{executor, async::kNever},
      filled_{executor, async::kNever} {}

async::Task<void> Purses::follow(etcd::Client& all) {
  etcd::Mirror mirror{all, std::string{kQuotas}, [this](const std::vector<etcd::Event>& events) {
                        // What was kept is of an earlier time: what etcd does not have is gone.
                        if (!std::exchange(is_known_by_etcd_, true)) ledgers_.clear();
                        for (const etcd::Event& event : events) took(event);
                        is_known_ = true;
                        news_.cancel();
                      }};
  co_return co_await mirror.run();
}

void Purses::took(const etcd::Event& event) {
  const std::string tenant = event.now.key.substr(kQuotas.size());
  if (event.kind == etcd::Event::Kind::removed) {
    ledgers_.erase(tenant);
    return;
  }
  auto ledger = decode_quota(event.now.value);
  // One that nobody can read is a quota all the same, of nothing.
  if (!ledger) {
    log(LogLevel::warning, "fleet", "a quota that nobody can read",
        {{"tenant", tenant}, {"why", ledger.error().text()}});
  }
  ledgers_.insert_or_assign(tenant, ledger ? *std::move(ledger) : QuotaLedger{});
}

void Purses::Purse::drop_late(Ticks now) {
  std::erase_if(held, [this, now](const Held& one) {
    if (now < one.until) return false;
    unused.push_back(one.unit);
    return true;
  });
}

asio::awaitable<void> Purses::until_known() const {
  while (!is_known_) co_await news_.async_wait(async::kQuiet);
}

// TENANT LEDGER
std::string Purses::saved() const {
  std::string text;
  for (const auto& [tenant, ledger] : ledgers_) {
    text.append(tenant).append(" ").append(encode(ledger)).append("\n");
  }
  return text;
}

void Purses::restore(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto space = line.find(' ');
    if (space == std::string_view::npos) continue;
    auto ledger = decode_quota(line.substr(space + 1));
    if (ledger) ledgers_.insert_or_assign(std::string{line.substr(0, space)}, *std::move(ledger));
  }
  is_known_ = true;
}

const QuotaLedger* Purses::ledger(const std::string& tenant) const {
  const auto found = ledgers_.find(tenant);
  return found == ledgers_.end() ? nullptr : &found->second;
}

async::Task<Nodes::Answer> Purses::ask(Whose whose, std::uint32_t wanted) {
  UnitsQuestion question{.tenant = whose.first, .wanted = wanted};
  std::vector<wire::Unit>& unused = purses_[whose].unused;
  const std::size_t count = std::min(unused.size(), kMostUnused);
  question.unused.assign(unused.end() - static_cast<std::ptrdiff_t>(count), unused.end());
  // Told once: what is lost on the way counts a little longer.
  unused.resize(unused.size() - count);
  co_return co_await indexes_.ask(
      whose.second,
      {.method = "POST", .path = std::string{kUnitsPath}, .fields = {}, .body = to_json(question)},
      kUnitsWithin);
}

// Who asks, and who waits for the answer: also where they are cut off.
class Purses::Turn {
 public:
  Turn(Purses& house, Whose whose) : house_{house}, whose_{std::move(whose)} {
    ++house_.purses_[whose_].waiting;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    Purse& purse = house_.purses_[whose_];
    --purse.waiting;
    if (!is_asking_) return;
    purse.is_asking = false;
    house_.filled_.cancel();
  }
  void ask() { is_asking_ = house_.purses_[whose_].is_asking = true; }
  void asked() {
    is_asking_ = house_.purses_[whose_].is_asking = false;
    house_.filled_.cancel();
  }

 private:
  Purses& house_;
  Whose whose_;
  bool is_asking_ = false;
};

async::Task<void> Purses::fill_once(Whose whose) {
  ++asked_;
  const Ticks asked = clock_.ticks();
  const std::uint32_t wanted = std::clamp(purses_[whose].waiting, 1U, kMostWanted);
  CO_TRY(const Nodes::Answer said, co_await ask(whose, wanted));
  if (said.status != 200) {
    co_return Error{Errc::internal,
                    fmt::format("the index of cell {} answers {}", whose.second, said.status)};
  }
  CO_TRY(UnitsAnswer answer, read_units_answer(said.body));
  unread_[whose.second] = {std::move(answer.unread), asked};
  if (answer.units.empty()) {
    co_return Error{Errc::exhausted, fmt::format("cell {} has all of its part in use, {} of {}",
                                                 whose.second, answer.used, answer.allowed)};
  }
  for (const wire::Unit& one : answer.units) {
    purses_[whose].held.push_back({one, asked + TenantUnits::kSpendable});
  }
  co_return Status{};
}

// An index that acts no more is asked for nothing: whoever has waited for the next one asks that.
async::Task<void> Purses::fill(Whose whose) {
  for (bool is_last = false;; is_last = true) {
    const auto number = indexes_.number(whose.second);
    const Status done = co_await fill_once(whose);
    if (done || is_last || !etcd::is_passing(done.error().code())) co_return done;
    CO_TRY(const bool is_other, co_await indexes_.until_other(whose.second, number, kOther));
    if (!is_other) co_return done;
  }
}

async::Task<wire::Unit> Purses::take(std::string tenant, std::uint16_t cell) {
  const Whose whose{tenant, cell};
  const Ticks came = clock_.ticks();
  Turn turn{*this, whose};
  for (;;) {
    // Another may have had it meanwhile.
    Purse& purse = purses_[whose];
    const Ticks now = clock_.ticks();
    purse.drop_late(now);
    // Of an index that another has followed nothing is taken any more; of one that we have not yet
    // heard of by etcd all.
    if (const auto acts = indexes_.number(cell)) {
      std::erase_if(purse.held, [acts](const Held& one) { return one.unit.index < *acts; });
    }
    if (!purse.held.empty()) {
      const wire::Unit unit = purse.held.back().unit;
      purse.held.pop_back();
      co_return unit;
    }
    // What was not used goes back with the next question, and may be given again.
    const bool is_exhausted = purse.refusal.code() == Errc::exhausted && purse.unused.empty();
    if (purse.refused_at >= came || (is_exhausted && now < purse.refused_at + kRefused)) {
      co_return purse.refusal;
    }
    if (purse.is_asking) {
      co_await filled_.async_wait(async::kQuiet);
      continue;
    }
    turn.ask();
    const Status done = co_await fill(whose);
    if (!done) {
      purses_[whose].refusal = done.error();
      purses_[whose].refused_at = clock_.ticks();
    }
    turn.asked();
    if (!done) co_return done.error();
  }
}

void Purses::give_back(const std::string& tenant, std::uint16_t cell, const wire::Unit& unit) {
  purses_[{tenant, cell}].unused.push_back(unit);
}

void Purses::drop(std::uint16_t cell, const wire::Unit& unit) {
  for (auto& [whose, purse] : purses_) {
    if (whose.second != cell) continue;
    // The index may be the same, and the node alone in error: then others are to have them.
    std::erase_if(purse.held, [&](const Held& one) {
      if (one.unit.index > unit.index) return false;
      purse.unused.push_back(one.unit);
      return true;
    });
  }
}

void Purses::forget_refusals(const std::string& tenant) {
  for (auto at = purses_.lower_bound({tenant, 0}); at != purses_.end() && at->first.first == tenant;
       ++at) {
    if (at->second.refusal.code() == Errc::exhausted) at->second.refused_at = Ticks{};
  }
}

std::vector<NodeId> Purses::unread(std::uint16_t cell) const {
  const auto found = unread_.find(cell);
  // Said with each unit that is held now; of an earlier time it means nothing.
  const bool is_old =
      found == unread_.end() || clock_.ticks() - found->second.said_at > TenantUnits::kSpendable;
  return is_old ? std::vector<NodeId>{} : found->second.nodes;
}

asio::awaitable<void> Purses::keep() {
  for (;;) {
    co_await etcd::sleep(kGiveBack);
    const Ticks now = clock_.ticks();
    std::vector<Whose> due;
    for (auto& [whose, purse] : purses_) {
      purse.drop_late(now);
      if (!purse.unused.empty()) due.push_back(whose);
    }
    for (const Whose& whose : due) static_cast<void>(co_await ask(whose, 0));
    std::erase_if(purses_, [now](const auto& one) {
      const Purse& purse = one.second;
      return purse.held.empty() && purse.unused.empty() && purse.waiting == 0 &&
             now >= purse.refused_at + kRefused;
    });
  }
}

}  // namespace cordon::fleet
