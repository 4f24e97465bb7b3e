// SPDX-License-Identifier: Apache-2.0
#include "node/residents.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/deadline.h"
#include "async/shielded.h"
#include "base/log.h"
#include "node/kept_plan.h"
#include "node/kept_verdict.h"
#include "node/labels_text.h"
#include "node/start_command.h"
#include "os/fault_point.h"
#include "plan/digest.h"
#include "plan/narrow.h"
#include "policy/checked.h"

namespace cordon::node {
namespace {

// The launcher gives up a sandbox that does not stand after half of it.
constexpr std::chrono::seconds kLaunch{20};

Demand demand_of(const plan::Lowered& lowered) {
  return {.milli_cpus = lowered.plan.limits.milli_cpus.value_or(0),
          .memory = lowered.plan.limits.memory.value_or(0)};
}

// What can change while it lives.
struct ChangingRow {
  WallTime expires{};
  std::string labels;
  std::string policy;
};
ChangingRow row_of(const Resident& resident) {
  const ResidentFacts& facts = resident.facts();
  return {facts.expires, labels_text(facts.labels),
          kept_text(resident.lowered(), facts.grants, facts.charges, facts.papers)};
}

void log_failure(const SandboxId& id, std::string_view what, const Error& error) {
  log(LogLevel::error, "node", what, {{"sandbox", id.text()}, {"failure", error.text()}});
}

audit::Subject subject_of(const std::string& tenant, const SandboxId& id) {
  return {.tenant = tenant, .sandbox = id.text()};
}
audit::Subject subject_of(const ResidentFacts& facts) { return subject_of(facts.tenant, facts.id); }

}  // namespace

Result<Residents::Prepared> Residents::prepare(const Claimed& claimed, wire::CreateRequest request,
                                               const token::Authority& authority,
                                               WhyNotAdmitted& why) {
  const auto& [tenant, purpose, unit] = claimed;
  if (unit) {
    if (Status holds = parts_.census.check(*unit, parts_.clock.wall()); !holds) {
      why.no_room = NoRoom::unit;
      return std::move(holds).error();
    }
  }
  TRY(SandboxId id, parts_.ids.make());
  TRY(Room::Place place, parts_.room.take(why.no_room));
  TRY(Admitted admitted,
      parts_.admission.admit(id, tenant, std::move(request), authority, why, purpose));
  TRY(Quotas::Share share, parts_.quotas.take(tenant, demand_of(admitted.lowered)));
  TRY(Budgets::Share budget, parts_.budgets.take(authority, admitted.lowered));
  // From here on it counts, whether or not anything comes of it.
  Census::Entry entry = parts_.census.enter(
      {.id = id.text(), .tenant = tenant, .is_build = purpose == Purpose::build, .unit = unit});
  return Prepared{std::move(id),    tenant,           std::move(admitted), std::move(place),
                  std::move(entry), std::move(share), std::move(budget)};
}

// What a tenant asked for and cannot be is none of our failures.
void Residents::count_failure(const Error& error) {
  ++(error.code() == Errc::invalid ? counts_.refused : counts_.failed);
}

void Residents::tell_end(const SandboxId& id, const std::string& tenant, const Verdict& verdict) {
  if (verdict.ending >= Ending::wall_time && verdict.ending <= Ending::output) {
    tell(id, tenant, event::LimitReached{verdict});
  }
  tell(id, tenant, event::Ended{verdict});
}

// Of one that lives here: its end stops what it tells.
void Residents::tell_of_processes(Resident& resident) {
  resident.when_process_tells([this, &resident](const ResidentProcess& process, bool has_ended) {
    const ResidentFacts& facts = resident.facts();
    if (has_ended) {
      tell(facts.id, facts.tenant,
           event::ProcessEnded{process.number(), process.exited(), process.failure()});
    } else {
      tell(facts.id, facts.tenant,
           event::ProcessStarted{process.number(), process.pid(), process.program()});
    }
  });
}

std::unique_ptr<NetworkShare> Residents::network_of(const plan::Lowered& lowered,
                                                    const SandboxId& id,
                                                    const std::string& tenant) {
  auto network = parts_.networks.share(lowered.plan.tenant, subject_of(tenant, id), id);
  network->when_refused(
      [this, id, tenant](const Denial& denial) { tell(id, tenant, event::Denied{denial}); });
  return network;
}

void Residents::tell_of_refusals(const std::unique_ptr<MonitorShare>& share, const SandboxId& id,
                                 const std::string& tenant) {
  if (!share) return;
  share->when_refused(
      [this, id, tenant](const Denial& denial) { tell(id, tenant, event::Denied{denial}); });
}

async::Task<void> Residents::record_start(const audit::Subject& subject,
                                          const plan::Lowered& lowered) {
  const std::vector<AuditEvent> events{
      PolicyAccepted{plan::digest_of(lowered)},
      SandboxStarted{isolation_of(lowered.enforcement), lowered.enforcement}};
  CO_TRY_DO(parts_.log.append(subject, events));
  co_return co_await parts_.disk.settled();
}

// Before: there are grants only where there is a network, which outlives what is shared.
std::unique_ptr<SecretsShare> Residents::share_secrets(const std::string& tenant,
                                                       const SandboxId& id, GrantedSecrets& granted,
                                                       NetworkShare& network) {
  granted.used = [&network](const frame::GrantUsed& use) { network.used(use); };
  return std::make_unique<SecretsShare>(parts_.brokers.of(tenant), id.text());
}

async::Task<std::unique_ptr<sandbox::Sandbox>> Residents::launch(Prepared& prepared) {
  plan::Lowered& lowered = prepared.admitted.lowered;
  if (!prepared.began) tell(prepared.id, prepared.tenant, event::Created{});
  prepared.responses = responses_of(lowered, prepared.id, prepared.tenant);
  if (lowered.network) {
    prepared.network = network_of(lowered, prepared.id, prepared.tenant);
    if (prepared.responses) prepared.network->count_in(*prepared.responses);
    CO_TRY_DO(co_await prepared.network->begin(lowered, parts_.state));
  }
  if (!prepared.admitted.grants.empty()) {
    GrantedSecrets granted{
        prepared.admitted.grants, prepared.began.value_or(parts_.clock.wall()), {}};
    prepared.secrets = share_secrets(lowered.plan.tenant, prepared.id, granted, *prepared.network);
    CO_TRY_DO(co_await prepared.secrets->begin(std::move(granted)));
  }
  CO_TRY(auto made, co_await async::within(kLaunch, parts_.backend.create(lowered.plan)));
  CO_TRY(prepared.monitored,
         parts_.monitor.watch(prepared.id, subject_of(prepared.tenant, prepared.id), lowered,
                              made->groups()));
  if (prepared.monitored) prepared.monitored->listen_to(*made);
  tell_of_refusals(prepared.monitored, prepared.id, prepared.tenant);
  if (prepared.monitored && prepared.responses) prepared.monitored->count_in(*prepared.responses);
  co_return made;
}

// Nothing: it is written. A claim: another request had the key before.
async::Task<std::optional<journal::Claim>> Residents::write_making(const ResidentFacts& facts,
                                                                   const plan::Lowered& lowered,
                                                                   const CreateOrder& order) {
  journal::SandboxRow row{.id = facts.id.text(),
                          .tenant = facts.tenant,
                          .life = journal::Life::making,
                          .created = facts.created,
                          .expires = facts.expires,
                          .labels = labels_text(facts.labels),
                          .policy = kept_text(lowered, facts.grants, facts.charges, facts.papers)};
  std::optional<journal::CreateKey> key;
  if (!order.key.empty()) key = journal::CreateKey{order.tenant, order.key, order.digest};
  const auto claim = std::make_shared<std::optional<journal::Claim>>();
  const WallTime now = parts_.clock.wall();
  const auto change = [row = std::move(row), key, claim, now](journal::Ledger& ledger) -> Status {
    if (key) {
      TRY(*claim, ledger.claimed(key->tenant, key->key));
      // Whoever was refused for want of room and got this far is not refused any more.
      if (*claim && (*claim)->sandbox.empty()) claim->reset();
      if (*claim) return {};
    }
    return ledger.add(row, key, now);
  };
  const auto durability = key ? journal::Durability::power : journal::Durability::process;
  CO_TRY_DO(co_await parts_.journal.write(durability, change));
  co_return std::move(*claim);
}

// What an earlier request with the same key has made.
Result<std::shared_ptr<Resident>> Residents::claimed_before(const journal::Claim& claim,
                                                            const journal::Digest& digest) const {
  const auto id = SandboxId::parse(claim.sandbox);
  if (claim.request != digest) {
    return Error{Errc::exists, "this idempotency key was used for another request"};
  }
  if (const auto earlier = id ? find(*id) : nullptr) return earlier;
  return Error{Errc::exists,
               "the sandbox of this idempotency key has ended, or is still being made"};
}

// Before anything is asked for: whoever comes back for what there is needs no room for it.
async::Task<std::optional<std::shared_ptr<Resident>>> Residents::came_back(const CreateOrder& order,
                                                                           WhyNotAdmitted& why) {
  const auto claim = std::make_shared<std::optional<journal::Claim>>();
  CO_TRY_DO(co_await parts_.journal.write(
      journal::Durability::process,
      [claim, tenant = order.tenant, key = order.key](journal::Ledger& ledger) -> Status {
        TRY(*claim, ledger.claimed(tenant, key));
        return {};
      }));
  const std::optional<journal::Claim>& found = *claim;
  if (!found) co_return std::nullopt;
  if (!found->sandbox.empty()) {
    CO_TRY(auto earlier, claimed_before(*found, order.digest));
    co_return std::optional{std::move(earlier)};
  }
  if (parts_.clock.wall() - found->made >= journal::Ledger::kRefused) co_return std::nullopt;
  why.no_room = NoRoom::full;
  co_return Error{Errc::unavailable,
                  "this node had no room for this idempotency key, and makes nothing for it for "
                  "five minutes: another node may have"};
}

// Another node is asked with the same key now, and perhaps we again later: then this one must not
// make a second.
async::Task<void> Residents::refuse_key(const CreateOrder& order) {
  co_return co_await parts_.journal.write(
      journal::Durability::power,
      [key = journal::CreateKey{order.tenant, order.key, order.digest},
       now = parts_.clock.wall()](journal::Ledger& ledger) { return ledger.refuse(key, now); });
}

async::Task<std::shared_ptr<Resident>> Residents::create(CreateOrder order,
                                                         const token::Authority& authority,
                                                         WhyNotAdmitted& why) {
  if (!order.key.empty()) {
    CO_TRY(auto earlier, co_await came_back(order, why));
    if (earlier) co_return *std::move(earlier);
  }
  Labels labels = order.request.labels;
  auto prepared =
      prepare({order.tenant, order.purpose, order.unit}, std::move(order.request), authority, why);
  if (!prepared) {
    ++counts_.refused;
    // For want of a unit it is asked of us again, and of nobody else.
    const bool is_asked_elsewhere =
        why.no_room && why.no_room != NoRoom::unit && parts_.room.is_one_of_many();
    if (is_asked_elsewhere && !order.key.empty()) {
      CO_TRY_DO(co_await refuse_key(order));
    }
    co_return std::move(prepared).error();
  }
  prepared->admitted.lowered.plan.setup.standby = std::move(order.standby);
  const WallTime now = parts_.clock.wall();
  ResidentFacts facts{.id = prepared->id,
                      .tenant = order.tenant,
                      .created = now,
                      .expires = now + prepared->admitted.life,
                      .labels = std::move(labels),
                      .grants = prepared->admitted.grants,
                      .charges = prepared->budget.charges(),
                      .until = parts_.clock.ticks() + prepared->admitted.life};
  // What is built is where it is built.
  if (order.purpose == Purpose::use) facts.papers.documents = papers_of(prepared->admitted.policy);
  // Who left without a key to come back with will never know of it.
  const auto is_unwanted = std::make_shared<bool>(false);
  const bool has_key = !order.key.empty();
  co_return co_await async::shielded<std::shared_ptr<Resident>>(
      *scope_, make(std::move(order), *std::move(prepared), std::move(facts), is_unwanted),
      [is_unwanted, has_key] { *is_unwanted = !has_key; });
}

// Goes on to its end whoever waits: what the launcher has begun must be known to somebody.
async::Task<std::shared_ptr<Resident>> Residents::make(CreateOrder order, Prepared prepared,
                                                       ResidentFacts facts,
                                                       std::shared_ptr<bool> is_unwanted) {
  CO_TRY(const auto claim, co_await write_making(facts, prepared.admitted.lowered, order));
  if (claim) co_return claimed_before(*claim, order.digest);
  os::fault_point("node.create.written");
  Result<std::unique_ptr<sandbox::Sandbox>> made = Error{Errc::internal, "not made"};
  if (const Status recorded = co_await record_start(subject_of(facts), prepared.admitted.lowered)) {
    made = co_await launch(prepared);
  } else {
    made = recorded.error();
  }
  os::fault_point("node.create.launched");
  const std::string id = facts.id.text();
  if (!made) {
    count_failure(made.error());
    const Verdict verdict{.ending = Ending::infrastructure, .explanation = made.error().text()};
    static_cast<void>(parts_.log.append(subject_of(facts), SandboxEnded{verdict}));
    tell_end(facts.id, facts.tenant, verdict);
    static_cast<void>(co_await parts_.journal.write(
        journal::Durability::process, [id](journal::Ledger& ledger) { return ledger.forget(id); }));
    co_return std::move(made).error();
  }
  if (prepared.secrets) facts.grants = prepared.secrets->grants();
  auto resident =
      std::make_shared<Resident>(parts_.executor, parts_.clock, std::move(facts),
                                 std::move(prepared.admitted.lowered), *std::move(made));
  ++counts_.created;
  take_in(resident,
          {std::move(prepared.place), std::move(prepared.entry), std::move(prepared.share),
           std::move(prepared.budget), std::move(prepared.responses), std::move(prepared.network),
           std::move(prepared.secrets), std::move(prepared.monitored)});
  const auto written = co_await parts_.journal.write(
      journal::Durability::process,
      [id, row = row_of(*resident)](journal::Ledger& ledger) -> Status {
        TRY_DO(ledger.set_living(id));
        // As it was launched: its network has added to the plan.
        return ledger.change(id, row.expires, row.labels, row.policy);
      });
  os::fault_point("node.create.living");
  if (!written) {
    resident->end({.ending = Ending::infrastructure});
    co_return written.error();
  }
  if (*is_unwanted) resident->end({.ending = Ending::killed});
  co_return resident;
}

void Residents::take_in(std::shared_ptr<Resident> resident, Belongings belongings) {
  tell_of_processes(*resident);
  if (const NetworkShare* const network = belongings.network.get(); network != nullptr) {
    resident->count_sent([network] { return network->sent(); });
  }
  const std::string id = resident->facts().id.text();
  if (const std::string& move = resident->papers().arriving; !move.empty()) {
    arrivals_.emplace(
        id, Arrival{.resident = resident, .move = move, .until = parts_.clock.ticks() + kReady});
    scope_->spawn(await_settling(id, move));
  } else {
    living_.emplace(id, resident);
  }
  belongings.entry.changed();
  scope_->spawn(host(std::move(resident), std::move(belongings)));
}

asio::awaitable<void> Residents::host(std::shared_ptr<Resident> resident, Belongings belongings) {
  if (belongings.responses) {
    respond_by(*belongings.responses, resident);
    if (belongings.responses->counts(Counted::processes)) {
      resident->also(count_births(resident, belongings.responses.get()));
    }
  }
  co_await resident->live();
  if (belongings.responses) {
    belongings.responses->act_by({});
    belongings.responses->revoke_by({});
  }
  os::fault_point("node.end.gone");
  if (belongings.monitored) belongings.monitored->end();
  resident->count_sent({});
  {
    const Belongings given_back = std::move(belongings);
  }
  ++counts_.ended;
  const SandboxId id = resident->facts().id;
  departures_.erase(id.text());
  const Verdict verdict = resident->verdict().value_or(Verdict{});
  if (const auto done = parts_.log.append(subject_of(resident->facts()), SandboxEnded{verdict});
      !done) {
    log_failure(id, "the end of a sandbox was not recorded", done.error());
  }
  if (auto arrival = arrivals_.extract(id.text())) {
    co_return co_await forget_arrival(id.text(), std::move(arrival.mapped().verdict));
  }
  tell_end(id, resident->facts().tenant, verdict);
  living_.erase(id.text());
  if (!parts_.ids.read(id)) {
    if (guests_.size() >= kMostEnded) guests_.pop_front();
    guests_.push_back(id.text());
  }
  if (ended_.size() >= kMostEnded) ended_.erase(ended_.begin());
  ended_.insert_or_assign(
      id.text(), EndedSandbox{resident->facts(), resident->lowered().enforcement, verdict});
  const auto written = co_await parts_.journal.write(
      journal::Durability::process, [text = id.text(), line = kept_text(verdict)](auto& ledger) {
        return ledger.set_ended(text, line);
      });
  os::fault_point("node.end.written");
  if (!written) log_failure(id, "the end of a sandbox was not written", written.error());
  if (written) ended_.erase(id.text());
}

async::Task<void> Residents::take_over(ResidentFacts facts, plan::Lowered lowered,
                                       std::unique_ptr<sandbox::Sandbox> sandbox) {
  Belongings belongings{parts_.room.take_over(),
                        parts_.census.enter({.id = facts.id.text(), .tenant = facts.tenant}),
                        parts_.quotas.take_over(facts.tenant, demand_of(lowered)),
                        parts_.budgets.take_over(facts.charges),
                        responses_of(lowered, facts.id, facts.tenant),
                        {},
                        {},
                        {}};
  auto monitored = parts_.monitor.watch_again(facts.id, subject_of(facts), lowered);
  if (monitored) {
    belongings.monitored = *std::move(monitored);
    if (belongings.monitored) belongings.monitored->listen_to(*sandbox);
    if (belongings.monitored && belongings.responses) {
      belongings.monitored->count_in(*belongings.responses);
    }
    tell_of_refusals(belongings.monitored, facts.id, facts.tenant);
  } else {
    // It lives on, and the log says from where on nobody looked.
    static_cast<void>(
        parts_.log.append(subject_of(facts), RecordsLost{"monitor", 0, monitored.error().text()}));
  }
  if (lowered.network) {
    belongings.network = network_of(lowered, facts.id, facts.tenant);
    if (belongings.responses) belongings.network->count_in(*belongings.responses);
    belongings.network->go_on(*lowered.network, parts_.state);
  }
  if (belongings.network && !facts.grants.empty()) {
    GrantedSecrets granted{facts.grants, facts.created, {}};
    belongings.secrets = share_secrets(lowered.plan.tenant, facts.id, granted, *belongings.network);
    const Status bound = co_await belongings.secrets->go_on(std::move(granted));
    // It lives on without them.
    if (!bound) log_failure(facts.id, "a sandbox has lost its grants", bound.error());
    if (!bound) belongings.secrets.reset();
    if (bound) facts.grants = belongings.secrets->grants();
  }
  auto resident = std::make_shared<Resident>(parts_.executor, parts_.clock, std::move(facts),
                                             std::move(lowered), std::move(sandbox));
  const bool was_leaving = !std::exchange(resident->papers().leaving, {}).empty();
  if (resident->papers().arriving.empty()) {
    tell(resident->facts().id, resident->facts().tenant, event::Adopted{});
  }
  take_in(resident, std::move(belongings));
  // What is told of it needs somebody who listens: that begins with the loop's next turn.
  co_await asio::post(parts_.executor, asio::use_awaitable);
  os::fault_point("node.adopt.begun");
  const Status adopted = co_await resident->adopt_processes();
  if (resident->papers().arriving.empty()) {
    resident->stand_as_written();
  } else {
    resident->freeze();
  }
  // Who held it has died: it stays here.
  if (adopted && was_leaving) {
    resident->release();
    scope_->spawn(write_later(resident));
  }
  co_return adopted;
}

async::Task<Residents::Ran> Residents::run(RunOrder order, const token::Authority& authority,
                                           std::shared_ptr<StoppableFace> face,
                                           WhyNotAdmitted& why) {
  auto prepared = prepare({order.tenant, Purpose::use, order.unit}, std::move(order.request.create),
                          authority, why);
  if (!prepared) {
    ++counts_.refused;
    co_return std::move(prepared).error();
  }
  co_return co_await async::shielded<Ran>(
      *scope_, run_prepared(*std::move(prepared), std::move(order.request.start), face),
      [face] { face->stop(); });
}

// Goes on to its end, which comes soon where nobody waits for it any more.
async::Task<Residents::Ran> Residents::run_prepared(Prepared prepared, wire::StartRequest start,
                                                    std::shared_ptr<StoppableFace> face) {
  Admitted& admitted = prepared.admitted;
  admitted.lowered.budgets.wall = admitted.life;
  CO_TRY_DO(co_await record_start(subject_of(prepared.tenant, prepared.id), admitted.lowered));
  ++counts_.runs;
  auto made = co_await launch(prepared);
  Result<RunOutcome> outcome = Error{Errc::internal, "not run"};
  if (made) {
    if (prepared.responses && admitted.lowered.network) {
      prepared.responses->revoke_by([this, &lowered = admitted.lowered](const Tripped& tripped) {
        scope_->spawn(revoke_network(plan::without_network(*lowered.network, tripped.response.rule),
                                     lowered.plan.tenant));
      });
    }
    outcome =
        co_await node::run(**made, admitted.lowered, command_of(std::move(start), admitted.lowered),
                           *face, prepared.responses.get());
  } else {
    outcome = made.error();
  }
  const Verdict verdict =
      outcome ? outcome->verdict
              : Verdict{.ending = Ending::infrastructure, .explanation = outcome.error().text()};
  std::vector<Denial> seen;
  if (prepared.monitored) seen = prepared.monitored->end();
  tell_end(prepared.id, prepared.tenant, verdict);
  CO_TRY_DO(parts_.log.append(subject_of(prepared.tenant, prepared.id), SandboxEnded{verdict}));
  if (!outcome) {
    count_failure(outcome.error());
    co_return std::move(outcome).error();
  }
  if (prepared.network) outcome->denials = prepared.network->take_denials();
  std::ranges::move(seen, std::back_inserter(outcome->denials));
  if (prepared.responses) {
    std::ranges::move(prepared.responses->take_taken(), std::back_inserter(outcome->denials));
  }
  co_return Ran{std::move(prepared.id), *std::move(outcome),
                std::move(admitted.lowered.enforcement)};
}

std::shared_ptr<Resident> Residents::find(const SandboxId& id) const {
  const auto found = living_.find(id.text());
  return found == living_.end() ? nullptr : found->second;
}

async::Task<std::optional<EndedSandbox>> Residents::find_ended(SandboxId id) const {
  if (const auto unwritten = ended_.find(id.text()); unwritten != ended_.end()) {
    co_return unwritten->second;
  }
  const auto row = std::make_shared<std::optional<journal::SandboxRow>>();
  CO_TRY_DO(co_await parts_.journal.write(
      journal::Durability::process, [row, text = id.text()](journal::Ledger& ledger) -> Status {
        TRY(*row, ledger.ended(text));
        return {};
      }));
  const std::optional<journal::SandboxRow>& found = *row;
  if (!found) co_return std::optional<EndedSandbox>{};
  co_return read_ended(*found);
}

std::vector<std::shared_ptr<Resident>> Residents::list(
    std::string_view after, std::size_t most,
    const std::function<bool(const Resident&)>& accept) const {
  std::vector<std::shared_ptr<Resident>> page;
  for (auto at = living_.upper_bound(after); at != living_.end() && page.size() < most; ++at) {
    if (accept(*at->second)) page.push_back(at->second);
  }
  return page;
}

async::Task<void> Residents::end(std::shared_ptr<Resident> resident, Stop why) {
  resident->end(std::move(why));
  co_await resident->ended();
  co_return Status{};
}

async::Task<void> Residents::change(std::shared_ptr<Resident> resident, Change change,
                                    WhyNotAdmitted& why) {
  CO_TRY_DO(resident->may_change());
  const bool narrows = change.policy.has_value();
  if (narrows) {
    std::string written = change.policy->written.json;
    CO_TRY(plan::Lowered narrower,
           plan::narrow(resident->lowered(), *std::move(change.policy), why.problems));
    CO_TRY_DO(parts_.log.append(subject_of(resident->facts()),
                                PolicyAccepted{plan::digest_of(narrower)}));
    CO_TRY_DO(co_await parts_.disk.settled());
    // It has begun to leave while this was recorded: what it was told with does not say it.
    CO_TRY_DO(resident->may_change());
    resident->papers().narrowings.push_back(std::move(written));
    resident->narrow(std::move(narrower));
  }
  // The narrower of both: a policy's time is given once.
  if (change.expires) {
    const auto& wall = resident->lowered().budgets.wall;
    const WallTime last = wall ? resident->facts().created + *wall : WallTime::max();
    resident->set_expires(std::min(*change.expires, last));
  }
  if (change.labels) resident->set_labels(*std::move(change.labels));
  parts_.census.changed(resident->facts().id.text());
  co_return co_await async::shielded<void>(*scope_, write_change(std::move(resident), narrows), {});
}

async::Task<void> Residents::forget_secret(std::string tenant, std::string name) {
  std::vector<std::pair<std::string, ChangingRow>> changed;
  const auto drop = [&](const std::string& id, Resident& resident) {
    if (resident.facts().tenant != tenant || !resident.drop_grants(name)) return;
    changed.emplace_back(id, row_of(resident));
  };
  for (const auto& [id, resident] : living_) drop(id, *resident);
  // What is on its way to us has a row, which `ready` writes anew.
  for (const auto& [id, arrival] : arrivals_) drop(id, *arrival.resident);
  if (changed.empty()) co_return Status{};
  co_return co_await parts_.journal.write(
      journal::Durability::power,
      [changed = std::move(changed)](journal::Ledger& ledger) -> Status {
        for (const auto& [id, row] : changed) {
          TRY_DO(ledger.change(id, row.expires, row.labels, row.policy));
        }
        return {};
      });
}

// Whoever waits: a change that has begun is written, and held by the egress. Changes of one sandbox
// are written in their order, each with all before it.
async::Task<void> Residents::write_change(std::shared_ptr<Resident> resident, bool has_narrowed,
                                          journal::Durability durability) {
  const auto written = co_await parts_.journal.write(
      durability,
      [id = resident->facts().id.text(), row = row_of(*resident)](journal::Ledger& ledger) {
        return ledger.change(id, row.expires, row.labels, row.policy);
      });
  os::fault_point("node.change.written");
  const std::optional<frame::Serve>& now = resident->lowered().network;
  if (has_narrowed && now) {
    frame::Serve serve = *now;
    TenantNetwork& network = parts_.networks.of(resident->lowered().plan.tenant);
    CO_TRY_DO(co_await network.change(std::move(serve)));
  }
  co_return written;
}

}  // namespace cordon::node
