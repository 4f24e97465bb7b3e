// SPDX-License-Identifier: Apache-2.0
// A sandbox that another node had: made as narrow as it is there, hidden until it is settled.
#include <algorithm>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/shielded.h"
#include "async/waiting.h"
#include "base/log.h"
#include "node/kept_plan.h"
#include "node/kept_verdict.h"
#include "node/labels_text.h"
#include "node/residents.h"
#include "os/fault_point.h"
#include "plan/narrow.h"
#include "token/caveat.h"
#include "wire/requests.h"

namespace cordon::node {
namespace {

// How long one that is to end is waited for.
constexpr int kLooks = 250;
constexpr std::chrono::milliseconds kBetweenLooks{20};

// Past any clock's: as far as clocks go.
WallTime time_of(std::uint64_t count) {
  constexpr std::uint64_t kLast = std::uint64_t{1} << 42U;  // in the year 2109
  return WallTime{std::chrono::milliseconds{static_cast<std::int64_t>(std::min(count, kLast))}};
}

// Its own time, or what this node gives to any, whichever is over first.
WallTime end_of(const plan::Lowered& lowered, WallTime created, WallTime expires, WallTime now) {
  WallTime last = std::min<WallTime>(expires, now + std::chrono::seconds{wire::kLongestLife});
  if (lowered.budgets.wall) last = std::min<WallTime>(last, created + *lowered.budgets.wall);
  return last;
}

Error over() { return {Errc::not_found, "its time is over"}; }

Error not_arriving() {
  return {Errc::not_found, "no such sandbox comes to this node by this move"};
}

// Rights that were taken from it are not given back, wherever the rule stands now.
void take_responses(plan::Lowered& lowered, const std::vector<frame::Response>& known) {
  for (const frame::Response& taken : known) {
    if (!taken.is_taken) continue;
    bool is_found = false;
    for (frame::Response& own : lowered.responses) {
      const bool is_same = own.when == taken.when && own.more_than == taken.more_than &&
                           own.within_seconds == taken.within_seconds && own.then == taken.then;
      if (is_same) own.is_taken = is_found = true;
    }
    if (!is_found) lowered.responses.push_back(taken);
    if (taken.then == "revoke_network" && lowered.network) {
      lowered.network = plan::without_network(*std::move(lowered.network), taken.rule);
    }
  }
}

struct Read {
  SandboxId id;
  Traveller traveller;
  Labels labels;
  std::vector<HeldGrant> grants;
};

Result<Read> read_order(const Residents::ArriveOrder& order) {
  TRY(Traveller traveller, read_traveller(order.traveller));
  TRY(SandboxId id, SandboxId::parse(traveller.id));
  // The node that had it may be nobody's friend: by this move nobody else comes.
  if (traveller.id != order.sandbox) {
    return Error{Errc::invalid, "the papers are of another sandbox than the one that is moved"};
  }
  if (!token::is_name(traveller.tenant, token::kLongestTenant)) {
    return Error{Errc::invalid, "the papers of a sandbox name no tenant"};
  }
  TRY(Labels labels, read_labels(traveller.labels));
  std::vector<HeldGrant> grants;
  if (!traveller.grants.empty()) {
    TRY(grants, read_grants(traveller.grants));
  }
  return Read{std::move(id), std::move(traveller), std::move(labels), std::move(grants)};
}

}  // namespace

async::Task<void> Residents::arrive(ArriveOrder order, WhyNotAdmitted& why) {
  CO_TRY(Read read, read_order(order));
  auto& [id, traveller, labels, grants] = read;
  // The node that has it lets it go by one move at a time: an earlier one has come to nothing.
  co_await make_way(id.text());
  if (living_.contains(id.text()) || arrivals_.contains(id.text())) {
    co_return Error{Errc::exists, "this sandbox is here already"};
  }
  const WallTime created = time_of(traveller.created);
  const WallTime expires = time_of(traveller.expires);
  if (expires <= parts_.clock.wall()) co_return over();
  if (order.unit) {
    CO_TRY_DO(parts_.census.check(*order.unit, parts_.clock.wall()));
  }
  CO_TRY(Room::Place place, parts_.room.take(why.no_room));
  const auto life = std::chrono::ceil<std::chrono::seconds>(expires - created);
  CO_TRY(Admitted admitted,
         parts_.admission.admit_again(id, traveller.tenant, traveller.papers, grants, life, why));
  take_responses(admitted.lowered, traveller.responses);
  // What runs in it from the start on is this node's own, whatever ran there.
  if (!traveller.standby.empty()) admitted.lowered.plan.setup.standby = std::move(order.standby);
  const WallTime last = end_of(admitted.lowered, created, expires, parts_.clock.wall());
  if (last <= parts_.clock.wall()) co_return over();
  const Demand demand{.milli_cpus = admitted.lowered.plan.limits.milli_cpus.value_or(0),
                      .memory = admitted.lowered.plan.limits.memory.value_or(0)};
  CO_TRY(Quotas::Share share, parts_.quotas.take(traveller.tenant, demand));
  Census::Entry entry =
      parts_.census.enter({.id = id.text(), .tenant = traveller.tenant, .unit = order.unit});
  ResidentFacts facts{.id = id,
                      .tenant = traveller.tenant,
                      .created = created,
                      .expires = last,
                      .labels = std::move(labels),
                      .grants = admitted.grants,
                      .papers = std::move(traveller.papers)};
  // What this node forbids is forbidden from here on.
  facts.papers.documents = papers_of(admitted.policy);
  facts.papers.arriving = std::move(order.move);
  facts.papers.leaving.clear();
  Prepared prepared{.id = std::move(id),
                    .tenant = facts.tenant,
                    .admitted = std::move(admitted),
                    .place = std::move(place),
                    .entry = std::move(entry),
                    .share = std::move(share),
                    .budget = {},
                    .began = created};
  co_return co_await async::shielded<void>(*scope_,
                                           arrive_now(std::move(prepared), std::move(facts)), {});
}

asio::awaitable<void> Residents::make_way(std::string id) {
  asio::steady_timer pause{co_await asio::this_coro::executor};
  for (int look = 0; look < kLooks; ++look) {
    const auto found = arrivals_.find(id);
    if (found == arrivals_.end()) co_return;
    found->second.resident->end({.ending = Ending::killed});
    pause.expires_after(kBetweenLooks);
    co_await pause.async_wait(async::kQuiet);
  }
}

// The verdict by which it left here before; empty: it never was here.
async::Task<std::string> Residents::write_arriving(const ResidentFacts& facts, std::string policy) {
  const auto before = std::make_shared<std::string>();
  journal::SandboxRow row{.id = facts.id.text(),
                          .tenant = facts.tenant,
                          .life = journal::Life::making,
                          .created = facts.created,
                          .expires = facts.expires,
                          .labels = labels_text(facts.labels),
                          .policy = std::move(policy),
                          .verdict = {}};
  CO_TRY_DO(co_await parts_.journal.write(
      journal::Durability::process,
      [row = std::move(row), before, now = parts_.clock.wall()](journal::Ledger& ledger) -> Status {
        TRY(const auto earlier, ledger.ended(row.id));
        if (!earlier) return ledger.add(row, {}, now);
        *before = earlier->verdict;
        // Its row goes on, with the key that it was made for.
        return {};
      }));
  co_return std::move(*before);
}

async::Task<void> Residents::arrive_now(Prepared prepared, ResidentFacts facts) {
  const std::string id = facts.id.text();
  CO_TRY(const std::string before,
         co_await write_arriving(facts, kept_text(prepared.admitted.lowered, facts.grants,
                                                  facts.charges, facts.papers)));
  Result<std::unique_ptr<sandbox::Sandbox>> made = Error{Errc::internal, "not made"};
  const audit::Subject subject{.tenant = facts.tenant, .sandbox = id};
  if (const Status recorded = co_await record_start(subject, prepared.admitted.lowered)) {
    made = co_await launch(prepared);
  } else {
    made = recorded.error();
  }
  if (!made) {
    count_failure(made.error());
    const Verdict verdict{.ending = Ending::infrastructure, .explanation = made.error().text()};
    static_cast<void>(parts_.log.append(subject, SandboxEnded{verdict}));
    co_await forget_arrival(id, before);
    co_return std::move(made).error();
  }
  if (prepared.secrets) facts.grants = prepared.secrets->grants();
  auto resident =
      std::make_shared<Resident>(parts_.executor, parts_.clock, std::move(facts),
                                 std::move(prepared.admitted.lowered), *std::move(made));
  take_in(resident,
          {std::move(prepared.place), std::move(prepared.entry), std::move(prepared.share),
           std::move(prepared.budget), std::move(prepared.responses), std::move(prepared.network),
           std::move(prepared.secrets), std::move(prepared.monitored)});
  // What is told of it needs somebody who listens: that begins with the loop's next turn.
  co_await asio::post(parts_.executor, asio::use_awaitable);
  // Until it is found, nothing runs in it.
  resident->freeze();
  if (const auto found = arrivals_.find(id); found != arrivals_.end()) {
    found->second.verdict = before;
    found->second.until = parts_.clock.ticks() + kSilence;
  }
  os::fault_point("fleet.arrive.made");
  co_return Status{};
}

asio::awaitable<void> Residents::forget_arrival(std::string id, std::string verdict) {
  const Status written = co_await parts_.journal.write(
      journal::Durability::process, [id, verdict](journal::Ledger& ledger) {
        return verdict.empty() ? ledger.forget(id) : ledger.set_ended(id, verdict);
      });
  if (written) co_return;
  log(LogLevel::error, "node", "a sandbox that never came is still in the journal",
      {{"sandbox", id}, {"failure", written.error().text()}});
}

// One that is late is looked at once more than it needs to be.
asio::awaitable<void> Residents::await_settling(std::string id, std::string move) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  for (;;) {
    const auto found = arrivals_.find(id);
    if (found == arrivals_.end() || found->second.move != move) co_return;
    const Ticks now = parts_.clock.ticks();
    if (now >= found->second.until) break;
    timer.expires_after(std::min<Ticks::duration>(found->second.until - now, kSilence / 2));
    co_await timer.async_wait(async::kQuiet);
  }
  log(LogLevel::warning, "node", "a sandbox was about to come and does not: nobody asks any more",
      {{"sandbox", id}});
  if (const auto found = arrivals_.find(id); found != arrivals_.end()) {
    found->second.resident->end({.ending = Ending::killed});
  }
}

Result<std::shared_ptr<Resident>> Residents::arriving(const SandboxId& id, std::string_view move) {
  const auto found = arrivals_.find(id.text());
  if (found == arrivals_.end() || found->second.move != move) return not_arriving();
  if (found->second.resident->is_ending()) return not_arriving();
  found->second.until = std::max(found->second.until, parts_.clock.ticks() + kSilence);
  return found->second.resident;
}

async::Task<void> Residents::ready(SandboxId id, std::string move) {
  CO_TRY(const auto resident, arriving(id, move));
  CO_TRY_DO(co_await parts_.journal.write(
      journal::Durability::process,
      [text = id.text()](journal::Ledger& ledger) { return ledger.set_living(text); }));
  CO_TRY_DO(co_await write_change(resident, false));
  // It may have ended while that was written.
  CO_TRY_DO(arriving(id, move));
  arrivals_.find(id.text())->second.until = parts_.clock.ticks() + kReady;
  os::fault_point("fleet.arrive.ready");
  co_return Status{};
}

async::Task<void> Residents::settle(SandboxId id, std::string move) {
  const auto living = find(id);
  if (living && living->papers().arrived == move) co_return Status{};
  CO_TRY(const auto resident, arriving(id, move));
  resident->papers().arrived = move;
  resident->papers().arriving.clear();
  arrivals_.erase(id.text());
  living_.emplace(id.text(), resident);
  // What a response or its tenant has stopped stands here too.
  resident->stand_as_written();
  ++counts_.created;
  parts_.census.changed(id.text());
  tell(id, resident->facts().tenant, event::Adopted{});
  co_return co_await async::shielded<void>(*scope_, write_change(resident, false), {});
}

async::Task<void> Residents::turn_back(SandboxId id, std::string move) {
  const auto resident = arriving(id, move);
  if (!resident) co_return Status{};
  (*resident)->end({.ending = Ending::killed});
  co_await (*resident)->ended();
  co_return Status{};
}

}  // namespace cordon::node
