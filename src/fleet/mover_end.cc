// SPDX-License-Identifier: Apache-2.0
// The write that says where a sandbox is, and what is done behind it.
#include <random>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "base/log.h"
#include "etcd/lease.h"
#include "etcd/sleep.h"
#include "etcd/status.h"
#include "fleet/mover.h"

namespace cordon::fleet {
namespace {

// What is not known is looked for: so often, and so long apart.
constexpr int kLooks = 10;
constexpr std::chrono::milliseconds kBetweenLooks{500};
// Behind our back it is looked for longer than any of both nodes waits.
constexpr int kPatientLooks = 150;
constexpr std::chrono::seconds kBetweenPatientLooks{5};
// After a start all are looked at once, not at a stroke.
constexpr std::chrono::milliseconds kSpread{60'000};
// A lease has as long as a sandbox may live without anybody's word: days, mostly.
constexpr std::chrono::hours kBetweenRenewals{24};
constexpr std::chrono::milliseconds kBetweenTwo{20};
constexpr int kFound = 200;
constexpr int kGone = 410;

bool is_good(const Result<Nodes::Answer>& answer) { return answer && answer->status <= kLastGood; }

std::chrono::milliseconds any_within(std::chrono::milliseconds most) {
  std::random_device device;
  std::uniform_int_distribution<std::int64_t> within{0, most.count()};
  return std::chrono::milliseconds{within(device)};
}

}  // namespace

async::Task<Mover::Written> Mover::write(Journey& journey) {
  journey.lease = etcd::fresh_lease_id();
  const auto granted = co_await parts_.all.grant(journey.lease, journey.life);
  if (!granted) co_return Written::no;
  const std::string key = moved_key_of(journey.sandbox);
  etcd::Txn txn{
      .when = {{.key = key, .than = etcd::Compare::ModRevision{journey.known}}},
      .then = {etcd::Put{.key = key, .value = encode(journey.passage), .lease = journey.lease}},
      .otherwise = {}};
  const auto decided = co_await parts_.all.txn(std::move(txn));
  if (decided) co_return decided->held ? Written::yes : Written::no;
  if (!etcd::is_passing(decided.error().code())) {
    log(LogLevel::error, "gateway", "etcd does not let us write where a sandbox is",
        {{"why", decided.error().text()}});
    co_return Written::no;
  }
  for (int look = 0; look < kLooks; ++look) {
    co_await etcd::sleep(kBetweenLooks);
    CO_TRY(const Written found, co_await read_back(journey));
    if (found != Written::unknown) co_return found;
  }
  co_return Written::unknown;
}

// That it is not there does not say that it never will be: whoever goes by this asks the node
// whether the sandbox has left, and there is one answer to that.
async::Task<Mover::Written> Mover::read_back(const Journey& journey) {
  const auto found = co_await parts_.all.range({.keys = etcd::only(moved_key_of(journey.sandbox))});
  if (!found) co_return Written::unknown;
  if (found->values.empty()) co_return Written::no;
  co_return found->values.front().value == encode(journey.passage) ? Written::yes : Written::no;
}

asio::awaitable<void> Mover::settle_unknown(Journey journey) {
  for (int look = 0; look < kPatientLooks; ++look) {
    co_await etcd::sleep(kBetweenPatientLooks);
    const auto found = co_await read_back(journey);
    if (!found || *found == Written::unknown) continue;
    if (*found == Written::yes) {
      parts_.moved.know(journey.sandbox, journey.passage);
      finish_later(journey.sandbox);
    } else {
      static_cast<void>(co_await undo(journey));
    }
    co_return;
  }
}

// Where one of them does not hear it, it does the same by itself before long. The node that has the
// sandbox first: what is written late finds that it stays.
async::Task<void> Mover::undo(const Journey& journey) {
  const auto& [to, from, move] = journey.passage;
  const auto stays = co_await ask_step(from, "DELETE", departure_path(journey.sandbox, "", move));
  // Of one that may yet leave the other is the only one: it ends by itself, if it was not found.
  if (journey.has_arrived && is_good(stays)) {
    static_cast<void>(co_await ask_step(to, "DELETE", arrival_path(journey.sandbox, "", move)));
  }
  if (journey.lease != etcd::LeaseId::none) {
    static_cast<void>(co_await parts_.all.revoke(journey.lease));
  }
  co_return Status{};
}

async::Task<Mover::Finished> Mover::finish(std::string sandbox, Passage passage) {
  const auto& [to, from, move] = passage;
  const std::string end = departure_path(sandbox, "/end", move) + "&to=" + to_string(to);
  bool has_left = false;
  for (int look = 0; look < kLooks && !has_left; ++look) {
    if (look > 0) co_await etcd::sleep(kBetweenLooks);
    const auto answer = co_await ask_step(from, "POST", end);
    has_left = is_good(answer);
    const bool stays = answer && (answer->status == 404 || answer->status == 409);
    if (!stays) continue;
    CO_TRY(const bool is_settled, co_await take_back(sandbox, passage));
    co_return is_settled ? Finished::stayed : Finished::unknown;
  }
  for (int look = 0; look < kLooks && has_left; ++look) {
    if (look > 0) co_await etcd::sleep(kBetweenLooks);
    const auto answer = co_await ask_step(to, "POST", arrival_path(sandbox, "/settle", move));
    if (is_good(answer)) co_return Finished::done;
    if (!answer || answer->status != kNotFound) continue;
    // It was settled, and has ended since: what is written of it means nothing any more.
    CO_TRY(const There there, co_await there_is(to, sandbox));
    if (there != There::gone) continue;
    CO_TRY(const bool is_removed, co_await remove(sandbox, passage));
    co_return is_removed ? Finished::done : Finished::unknown;
  }
  co_return Finished::unknown;
}

// It has not left by this move. What is written of it goes, unless another move has written since;
// and unless it was settled long ago, and the node that had it has forgotten. False: not known.
async::Task<bool> Mover::take_back(std::string sandbox, Passage passage) {
  CO_TRY(const There at_home, co_await there_is(passage.from, sandbox));
  // It lives where it was: whatever became of the other node, that is the one.
  if (at_home != There::lives) {
    CO_TRY(const There away, co_await there_is(passage.to, sandbox));
    if (away == There::unknown) co_return false;
    if (away == There::lives) co_return true;
  }
  static_cast<void>(
      co_await ask_step(passage.to, "DELETE", arrival_path(sandbox, "", passage.move)));
  co_return co_await remove(std::move(sandbox), std::move(passage));
}

async::Task<bool> Mover::remove(std::string sandbox, Passage passage) {
  const std::string key = moved_key_of(sandbox);
  etcd::Txn txn{.when = {{.key = key, .than = etcd::Compare::Value{encode(passage)}}},
                .then = {etcd::Remove{.keys = etcd::only(key)}},
                .otherwise = {}};
  const auto removed = co_await parts_.all.txn(std::move(txn));
  if (removed && removed->held) parts_.moved.forget(sandbox);
  co_return removed.has_value();
}

async::Task<Mover::There> Mover::there_is(NodeId node, std::string sandbox) {
  const auto answer = co_await ask_step(node, "GET", "/v1/sandboxes/" + sandbox);
  if (!answer) co_return There::unknown;
  if (http::only(answer->fields, wire::kMovedField) == "here") co_return There::arrives;
  if (answer->status == kNotFound || answer->status == kGone) co_return There::gone;
  boost::system::error_code error;
  const auto said = boost::json::parse(answer->body, error);
  const auto* const object = error ? nullptr : said.if_object();
  if (answer->status != kFound || object == nullptr) co_return There::unknown;
  // One that has ended is shown for a while, with why.
  co_return object->contains("verdict") ? There::gone : There::lives;
}

void Mover::finish_later(const std::string& sandbox) {
  if (busy_.contains(sandbox) || scope_ == nullptr) return;
  scope_->spawn(finish_by_and_by(sandbox));
}

void Mover::look_again(const std::string& sandbox) {
  if (scope_ == nullptr) return;
  scope_->spawn(finish_after(any_within(kSpread), sandbox));
}

asio::awaitable<void> Mover::keep() {
  co_await etcd::sleep(any_within(kSpread));
  for (;; co_await etcd::sleep(kBetweenRenewals)) {
    for (const std::string& sandbox : parts_.moved.names()) {
      static_cast<void>(co_await renew(sandbox));
      co_await etcd::sleep(kBetweenTwo);
    }
  }
}

// Of one that is gone nothing is done: what is written of it goes when its time is over.
async::Task<void> Mover::renew(std::string sandbox) {
  const Passage* const passage = parts_.moved.passage(sandbox);
  if (passage == nullptr) co_return Status{};
  CO_TRY(const There there, co_await there_is(passage->to, sandbox));
  if (there != There::lives) co_return Status{};
  CO_TRY(const auto found, co_await parts_.all.range({.keys = etcd::only(moved_key_of(sandbox))}));
  const bool has_lease = !found.values.empty() && found.values.front().lease != etcd::LeaseId::none;
  if (!has_lease) co_return Status{};
  co_return co_await etcd::renew(parts_.all, found.values.front().lease);
}

asio::awaitable<void> Mover::finish_after(std::chrono::milliseconds pause, std::string sandbox) {
  co_await etcd::sleep(pause);
  co_await finish_by_and_by(std::move(sandbox));
}

asio::awaitable<void> Mover::finish_by_and_by(std::string sandbox) {
  if (!busy_.insert(sandbox).second) co_return;
  for (int look = 0; look < kPatientLooks; ++look) {
    // Whoever has begun is given the time to end it.
    co_await etcd::sleep(look == 0 ? std::chrono::milliseconds{1500} : kBetweenPatientLooks);
    const Passage* const passage = parts_.moved.passage(sandbox);
    if (passage == nullptr) break;
    const auto finished = co_await finish(sandbox, *passage);
    if (finished && *finished != Finished::unknown) break;
  }
  busy_.erase(sandbox);
}

}  // namespace cordon::fleet
