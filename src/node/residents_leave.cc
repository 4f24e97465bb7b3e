// SPDX-License-Identifier: Apache-2.0
// A sandbox that goes on at another node: held, told with all that it is, and ended here. Whether
// it has left is decided here and nowhere else.
#include <algorithm>
#include <csignal>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "async/shielded.h"
#include "async/waiting.h"
#include "base/log.h"
#include "node/kept_plan.h"
#include "node/labels_text.h"
#include "node/residents.h"
#include "os/fault_point.h"

namespace cordon::node {
namespace {

std::uint64_t count_of(WallTime time) {
  return static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

Error not_leaving() {
  return {Errc::not_found, "no such sandbox is leaving this node by this move"};
}

// Directories of its own disk, none of them below another. What runs in it puts its sockets and
// locks into /dev/shm, and nothing that outlives a process.
std::vector<std::string> own_paths(const frame::LaunchPlan& plan) {
  std::vector<std::string> paths = plan.directories;
  std::ranges::copy(plan.homes, std::back_inserter(paths));
  if (plan.workspace.kind == frame::WorkspaceKind::own_disk && !plan.workspace.target.empty()) {
    paths.push_back(plan.workspace.target);
  }
  std::erase(paths, "/dev/shm");
  std::ranges::sort(paths);
  std::vector<std::string> tops;
  for (std::string& path : paths) {
    const bool is_below =
        !tops.empty() && (path == tops.back() || path.starts_with(tops.back() + "/"));
    if (!is_below) tops.push_back(std::move(path));
  }
  return tops;
}

// `denied`: it cannot go on elsewhere as it is.
Status may_leave(const Resident& resident) {
  const frame::LaunchPlan& plan = resident.lowered().plan;
  if (resident.facts().papers.documents.empty()) {
    return Error{Errc::denied,
                 "what this sandbox was made with is not known any more, or it builds a template: "
                 "let it end here"};
  }
  if (!resident.facts().charges.empty()) {
    return Error{Errc::denied,
                 "this sandbox was made with a token that has a budget, which this node counts: "
                 "let it end here"};
  }
  if (plan.root_layer || plan.workspace.kind != frame::WorkspaceKind::own_disk) {
    return Error{Errc::denied, "files of this sandbox are not on its own disk: let it end here"};
  }
  return {};
}

}  // namespace

bool Residents::knows(const SandboxId& id) const {
  return parts_.ids.read(id) || living_.contains(id.text()) || arrivals_.contains(id.text()) ||
         std::ranges::find(guests_, id.text()) != guests_.end();
}

std::size_t Residents::grants_of(const Resident& resident) const {
  if (resident.facts().grants.empty()) return 0;
  return parts_.brokers.of(resident.lowered().plan.tenant)
      .grants_of(resident.facts().id.text())
      .size();
}

Residents::Left Residents::told_of(Resident& resident, Doors doors) {
  const ResidentFacts& facts = resident.facts();
  Traveller traveller{.id = facts.id.text(),
                      .tenant = facts.tenant,
                      .created = count_of(facts.created),
                      .expires = count_of(facts.expires),
                      .labels = labels_text(facts.labels),
                      .papers = facts.papers,
                      .grants = {},
                      .responses = resident.lowered().responses,
                      .standby = {}};
  traveller.papers.spent = resident.spent();
  if (traveller.papers.services.empty()) {
    traveller.papers.services = std::move(doors.services);
    traveller.papers.traffic = std::move(doors.traffic);
  }
  const auto grants =
      facts.grants.empty()
          ? std::vector<HeldGrant>{}
          : parts_.brokers.of(resident.lowered().plan.tenant).grants_of(facts.id.text());
  if (!grants.empty()) traveller.grants = grants_text(grants);
  const auto& standby = resident.lowered().plan.setup.standby;
  if (standby) traveller.standby.push_back(*standby);
  return {traveller_text(traveller), own_paths(resident.lowered().plan)};
}

async::Task<Residents::Left> Residents::leave(std::shared_ptr<Resident> resident, std::string move,
                                              Doors doors) {
  CO_TRY_DO(may_leave(*resident));
  CO_TRY_DO(co_await resident->hold());
  if (resident->is_ending()) co_return Error{Errc::not_found, "there is no such sandbox"};
  const std::string id = resident->facts().id.text();
  resident->papers().leaving = move;
  departures_.insert_or_assign(id, Departure{.move = move,
                                             .changes = resident->changes(),
                                             .grants = grants_of(*resident),
                                             .until = parts_.clock.ticks() + kSilence});
  scope_->spawn(await_silence(id, move));
  Left left = told_of(*resident, std::move(doors));
  // A daemon after this one is to know that it stands still by us.
  scope_->spawn(write_later(resident));
  os::fault_point("fleet.leave.held");
  co_return left;
}

asio::awaitable<void> Residents::write_later(std::shared_ptr<Resident> resident) {
  const SandboxId id = resident->facts().id;
  const auto written = co_await write_change(std::move(resident), false);
  if (written) co_return;
  log(LogLevel::error, "node", "how a sandbox stands was not written",
      {{"sandbox", id.text()}, {"failure", written.error().text()}});
}

asio::awaitable<void> Residents::await_silence(std::string id, std::string move) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  for (;;) {
    const auto found = departures_.find(id);
    if (found == departures_.end() || found->second.move != move) co_return;
    const Ticks until = found->second.until;
    if (parts_.clock.ticks() >= until) break;
    timer.expires_after(until - parts_.clock.ticks());
    co_await timer.async_wait(async::kQuiet);
  }
  log(LogLevel::warning, "node", "a sandbox was about to leave and stays: nobody asks any more",
      {{"sandbox", id}});
  if (const auto parsed = SandboxId::parse(id)) stay(*parsed, move);
}

Result<std::shared_ptr<Resident>> Residents::leaving(const SandboxId& id, std::string_view move) {
  const auto found = departures_.find(id.text());
  auto resident = find(id);
  if (found == departures_.end() || found->second.move != move || !resident) return not_leaving();
  if (resident->is_ending()) {
    return Error{Errc::not_found, "the sandbox has ended while it was moved"};
  }
  if (resident->changes() != found->second.changes ||
      grants_of(*resident) != found->second.grants) {
    stay(id, move);
    return Error{Errc::exists,
                 "the sandbox has become narrower while it was moved, and stays: move it again"};
  }
  found->second.until = parts_.clock.ticks() + kSilence;
  return resident;
}

void Residents::stay(const SandboxId& id, std::string_view move) {
  const auto found = departures_.find(id.text());
  if (found == departures_.end() || found->second.move != move) return;
  departures_.erase(found);
  const auto resident = find(id);
  if (!resident || resident->is_ending()) return;
  resident->papers().leaving.clear();
  resident->release();
  scope_->spawn(write_later(resident));
}

async::Task<void> Residents::depart(SandboxId id, std::string move, std::string to) {
  co_return co_await async::shielded<void>(
      *scope_, depart_now(std::move(id), std::move(move), std::move(to)), {});
}

async::Task<void> Residents::departed_before(SandboxId id, std::string to) const {
  CO_TRY(const auto ended, co_await find_ended(std::move(id)));
  const bool has_left =
      ended && ended->verdict.ending == Ending::moved && ended->verdict.culprit == to;
  if (!has_left) co_return not_leaving();
  co_return Status{};
}

// Written first, in a place that outlives us, and only then done: from there on it is not ours.
async::Task<void> Residents::depart_now(SandboxId id, std::string move, std::string to) {
  const auto found = departures_.find(id.text());
  if (found == departures_.end() || found->second.move != move) {
    // Somebody else is about to say the same.
    const auto resident = find(id);
    if (resident && resident->papers().left_for == to) co_await resident->ended();
    co_return co_await departed_before(std::move(id), std::move(to));
  }
  CO_TRY(const auto resident, leaving(id, move));
  departures_.erase(id.text());
  resident->papers().left_for = to;
  // There may be one answer to whether it has left, also after a power cut.
  const Status written = co_await write_change(resident, false, journal::Durability::power);
  if (!written) {
    resident->papers().left_for.clear();
    resident->papers().leaving.clear();
    resident->release();
    // Something else may have been written beside it that says it has left.
    scope_->spawn(write_later(resident));
    co_return written;
  }
  os::fault_point("fleet.leave.written");
  // Who has ended it meanwhile was first, and it is not to live on.
  resident->end({.ending = Ending::moved, .culprit = to});
  co_await resident->ended();
  const auto& verdict = resident->verdict();
  if (!verdict || verdict->ending != Ending::moved) {
    co_return Error{Errc::not_found, "the sandbox has ended while it was moved"};
  }
  co_return Status{};
}

}  // namespace cordon::node
