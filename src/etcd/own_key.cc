// SPDX-License-Identifier: Apache-2.0
#include "etcd/own_key.h"

#include <utility>

#include "etcd/sleep.h"
#include "etcd/status.h"

namespace cordon::etcd {

OwnKey::OwnKey(Client& client, std::string key, MayReplace may_replace)
    : client_{client}, key_{std::move(key)}, may_replace_{std::move(may_replace)} {}

Result<OwnKey::Seen> OwnKey::judge(const Decided& decided, const std::string& value,
                                   LeaseId lease) {
  if (decided.held) {
    known_ = decided.origin.revision;
    return Seen::done;
  }
  if (decided.answers.size() != 1 || !std::holds_alternative<Found>(decided.answers[0])) {
    return Error{Errc::internal, "etcd: an answer to what was not asked"};
  }
  const auto& found = std::get<Found>(decided.answers[0]).values;
  if (found.empty()) {
    known_ = 0;
    return Seen::changed;
  }
  const KeyValue& standing = found.front();
  // An attempt of ours whose answer was lost.
  const bool is_ours = standing.value == value && standing.lease == lease;
  if (!is_ours && !may_replace_(standing)) {
    return Error{Errc::exists, "etcd: " + key_ + " is held by another"};
  }
  known_ = standing.mod_revision;
  return is_ours ? Seen::done : Seen::changed;
}

async::Task<OwnKey::Seen> OwnKey::attempt(std::string value, LeaseId lease) {
  Txn txn{.when = {{.key = key_, .than = Compare::ModRevision{known_}}},
          .then = {Put{.key = key_, .value = value, .lease = lease}},
          .otherwise = {Range{.keys = only(key_)}}};
  CO_TRY(const Decided decided, co_await client_.txn(std::move(txn), Client::kOneMember));
  co_return judge(decided, value, lease);
}

async::Task<void> OwnKey::write(std::string value, LeaseId lease, Client::Limit limit) {
  const auto end = SteadyClock::now() + limit;
  Pause pause;
  for (;;) {
    const auto seen = co_await attempt(value, lease);
    if (seen && *seen == Seen::done) co_return Status{};
    if (!seen && !is_passing(seen.error().code())) co_return seen.error();
    if (SteadyClock::now() >= end) {
      if (!seen) co_return seen.error();
      co_return Error{Errc::timeout, "etcd: " + key_ + " changes as fast as it is written"};
    }
    if (!seen) co_await sleep(pause.next());
  }
}

async::Task<void> OwnKey::remove(Client::Limit limit) {
  const auto end = SteadyClock::now() + limit;
  Pause pause;
  for (;;) {
    Txn txn{.when = {{.key = key_, .than = Compare::ModRevision{known_}}},
            .then = {Remove{.keys = only(key_)}},
            .otherwise = {}};
    const auto decided = co_await client_.txn(std::move(txn), Client::kOneMember);
    if (decided) {
      known_ = 0;
      co_return Status{};
    }
    if (!is_passing(decided.error().code()) || SteadyClock::now() >= end) {
      co_return decided.error();
    }
    co_await sleep(pause.next());
  }
}

}  // namespace cordon::etcd
