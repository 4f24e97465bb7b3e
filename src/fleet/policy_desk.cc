// SPDX-License-Identifier: Apache-2.0
#include "fleet/policy_desk.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/log.h"
#include "fleet/summary.h"
#include "gate/release.h"
#include "hash/sha256.h"
#include "policy/problem.h"

namespace cordon::fleet {
namespace {

constexpr std::chrono::seconds kLimit{5};

bool is_over(const Rollout& rollout) {
  return rollout.stage == Stage::whole || rollout.stage == Stage::stopped;
}

// Texts that nobody goes back to any more.
std::vector<etcd::Operation> forget_texts(const std::optional<Rollout>& last, const Rollout& next) {
  std::vector<etcd::Operation> removes;
  if (!last) return removes;
  for (const std::uint64_t release : {last->release, last->before}) {
    if (release == 0 || release == next.before) continue;
    removes.emplace_back(etcd::Remove{.keys = etcd::only(release_key(release))});
  }
  return removes;
}

}  // namespace

std::vector<NodeRelease> PolicyDesk::nodes() const {
  std::vector<NodeRelease> all;
  for (const NodeId node : nodes_.roster().all()) {
    const Summary* const said = nodes_.roster().summary(node);
    if (said == nullptr) continue;
    // Who has only lost its lease is waited for: what it says comes late, and is not skipped.
    const bool is_present = nodes_.standing(node).value_or(Standing::dead) != Standing::dead;
    all.push_back({.node = node,
                   .is_present = is_present,
                   .release = said->release,
                   .refused = said->refused,
                   .why = said->why,
                   .turned_away = said->turned_away});
  }
  return all;
}

async::Task<PolicyDesk::Stand> PolicyDesk::look() {
  CO_TRY(const etcd::Found found,
         co_await client_.range({.keys = etcd::only(std::string{kRolloutKey})}, kLimit));
  if (found.values.empty()) co_return Stand{};
  const etcd::KeyValue& standing = found.values.front();
  CO_TRY(Rollout rollout, decode_rollout(standing.value));
  co_return Stand{.rollout = std::move(rollout), .revision = standing.mod_revision};
}

async::Task<std::string> PolicyDesk::text_of(std::uint64_t release) {
  CO_TRY(etcd::Found found,
         co_await client_.range({.keys = etcd::only(release_key(release))}, kLimit));
  if (found.values.empty()) {
    co_return Error{Errc::not_found,
                    fmt::format("release {} of the policy is not kept any more", release)};
  }
  co_return std::move(found.values.front().value);
}

async::Task<PolicyDesk::Stand> PolicyDesk::write(Stand stand, Rollout next,
                                                 std::vector<etcd::Operation> also) {
  using etcd::Compare;
  etcd::Txn txn;
  txn.when.push_back({.key = std::string{kRolloutKey},
                      .is = Compare::Relation::equal,
                      .than = Compare::ModRevision{stand.revision}});
  txn.then = std::move(also);
  txn.then.emplace_back(etcd::Put{.key = std::string{kRolloutKey}, .value = encode(next)});
  CO_TRY(const etcd::Decided decided, co_await client_.txn(std::move(txn), kLimit));
  if (!decided.held) {
    co_return Error{Errc::exists, "somebody else has changed the rollout meanwhile; look at it"};
  }
  log(LogLevel::info, "policy", "the rollout was changed",
      {{"release", static_cast<std::int64_t>(next.release)},
       {"stage", to_string(next.stage)},
       {"why", next.why}});
  stand.rollout = std::move(next);
  stand.revision = decided.origin.revision;
  co_return stand;
}

Result<std::vector<NodeId>> PolicyDesk::canaries_for(const Push& push) const {
  const std::vector<NodeRelease> all = nodes();
  if (push.canaries.empty()) {
    for (const NodeRelease& node : all) {
      if (nodes_.standing(node.node) == Standing::placeable) return std::vector{node.node};
    }
    return Error{Errc::unavailable, "no node takes new sandboxes that could be a canary"};
  }
  for (const NodeId canary : push.canaries) {
    const auto known = std::ranges::find(all, canary, &NodeRelease::node);
    if (known == all.end() || !known->is_present) {
      return Error{Errc::not_found,
                   fmt::format("canary {}: there is no such node, or it is away; `cordon node ls` "
                               "lists those that there are",
                               to_string(canary))};
    }
  }
  return push.canaries;
}

async::Task<PolicyDesk::Stand> PolicyDesk::push(Push push) {
  policy::Problems problems{"release"};
  CO_TRY_DO(gate::read_release(push.text, "release", problems));
  const std::string digest = to_hex(sha256({as_bytes(push.text)}));
  CO_TRY(Stand stand, co_await look());
  if (stand.rollout && !is_over(*stand.rollout)) {
    if (stand.rollout->sha256 == digest) co_return stand;
    co_return Error{Errc::exists,
                    fmt::format("release {} is being rolled out; wait for it, go on with it by "
                                "`cordon fleet policy resume`, or take it back by `cordon fleet "
                                "policy rollback`",
                                stand.rollout->release)};
  }
  CO_TRY(std::vector<NodeId> canaries, canaries_for(push));
  Rollout next = begin_rollout(stand.rollout, nodes(),
                               {.canaries = std::move(canaries),
                                .soak = push.soak,
                                .may_turn_away = push.may_turn_away,
                                .sha256 = digest,
                                .by = plain_words(push.by)});
  std::vector<etcd::Operation> also = forget_texts(stand.rollout, next);
  also.emplace_back(etcd::Put{.key = release_key(next.release), .value = std::move(push.text)});
  co_return co_await write(std::move(stand), std::move(next), std::move(also));
}

async::Task<PolicyDesk::Stand> PolicyDesk::step() {
  CO_TRY(Stand stand, co_await look());
  if (!stand.rollout) co_return Error{Errc::not_found, "no release of a policy was pushed yet"};
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.wall());
  Step step = advance(*stand.rollout, nodes(), cells_, now);
  if (step.next != *stand.rollout) {
    CO_TRY(stand, co_await write(std::move(stand), std::move(step.next)));
  }
  stand.words = std::move(step.words);
  co_return stand;
}

async::Task<PolicyDesk::Stand> PolicyDesk::roll_back(std::string by) {
  CO_TRY(Stand stand, co_await look());
  if (!stand.rollout) co_return Error{Errc::not_found, "no release of a policy was pushed yet"};
  if (stand.rollout->stage == Stage::stopped) co_return stand;
  Rollout next = rolled_back(*stand.rollout, "taken back by " + by);
  co_return co_await write(std::move(stand), std::move(next));
}

}  // namespace cordon::fleet
