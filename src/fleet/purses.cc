// SPDX-License-Identifier: Apache-2.0
#include "fleet/purses.h"

#include <algorithm>

#include <fmt/format.h>

#include "async/waiting.h"
#include "base/log.h"
#include "etcd/mirror.h"
#include "etcd/sleep.h"
#include "fleet/confer.h"
#include "fleet/tenant_units.h"
#include "fleet/units_message.h"

namespace cordon::fleet {
namespace {

constexpr std::chrono::milliseconds kUnitsWithin{1'500};
constexpr std::chrono::milliseconds kGiveBack{300};
// Of those that are given back with one question.
constexpr std::size_t kMostUnused = 256;

}  // namespace

Purses::Purses(const asio::any_io_executor& executor, Indexes& indexes, const Clock& clock)
    : indexes_{indexes}, clock_{clock}, news_{executor, async::kNever} {}

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

async::Task<wire::Unit> Purses::take(std::string tenant, std::uint16_t cell) {
  const Whose whose{tenant, cell};
  const Ticks asked = clock_.ticks();
  Purse& purse = purses_[whose];
  purse.drop_late(asked);
  if (!purse.held.empty()) {
    const wire::Unit unit = purse.held.back().unit;
    purse.held.pop_back();
    co_return unit;
  }
  // From here on another may have the purse.
  CO_TRY(const Nodes::Answer said, co_await ask(whose, 1));
  if (said.status != 200) {
    co_return Error{Errc::unavailable,
                    fmt::format("the index of cell {} answers {}", cell, said.status)};
  }
  CO_TRY(UnitsAnswer answer, read_units_answer(said.body));
  if (answer.units.empty()) {
    co_return Error{Errc::exhausted, fmt::format("cell {} has all of its part in use, {} of {}",
                                                 cell, answer.used, answer.allowed)};
  }
  const wire::Unit unit = answer.units.back();
  answer.units.pop_back();
  for (const wire::Unit& one : answer.units) {
    purses_[whose].held.push_back({one, asked + TenantUnits::kSpendable});
  }
  co_return unit;
}

void Purses::give_back(const std::string& tenant, std::uint16_t cell, const wire::Unit& unit) {
  purses_[{tenant, cell}].unused.push_back(unit);
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
    std::erase_if(purses_, [](const auto& one) {
      return one.second.held.empty() && one.second.unused.empty();
    });
  }
}

}  // namespace cordon::fleet
