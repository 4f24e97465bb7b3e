// SPDX-License-Identifier: Apache-2.0
#include "fleet/registrar.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/asio/this_coro.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "async/waiting.h"
#include "base/bytes.h"
#include "base/log.h"
#include "etcd/mirror.h"
#include "etcd/sleep.h"

namespace cordon::fleet {
namespace {

namespace json = boost::json;

Result<std::uint64_t> number_at(const json::object& of, std::string_view name, std::uint64_t most) {
  const json::value* const found = of.if_contains(name);
  std::optional<std::uint64_t> value;
  if (found != nullptr && found->is_uint64()) value = found->get_uint64();
  if (found != nullptr && found->is_int64() && found->get_int64() >= 0) {
    value = static_cast<std::uint64_t>(found->get_int64());
  }
  if (value && *value <= most) return *value;
  return Error{Errc::invalid,
               fmt::format("the node does not say `{}`: is [fleet] in its settings?", name)};
}

// Nothing of it: an earlier version's.
void read_policy(const json::object& of, Summary& summary) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto part = [](const json::object& object, std::string_view name) -> const json::object* {
    const json::value* const found = object.if_contains(name);
    return found == nullptr ? nullptr : found->if_object();
  };
  const json::object* const policy = part(of, "policy");
  if (policy == nullptr) return;
  const auto number_of = [](const json::object& object, std::string_view name) {
    const auto number = number_at(object, name, kMost);
    return number ? *number : 0;
  };
  summary.release = number_of(*policy, "release");
  summary.turned_away = std::min(number_of(*policy, "turned_away"), kMostTurnedAway);
  const json::object* const refused = part(*policy, "refused");
  if (refused == nullptr) return;
  summary.refused = number_of(*refused, "release");
  const json::value* const why = refused->if_contains("why");
  if (why != nullptr && why->is_string()) summary.why = plain_words(why->get_string());
}

}  // namespace

Result<NodeState> read_node_state(std::string_view body) {
  boost::system::error_code error;
  const json::value value = json::parse(body, error);
  const json::object* const object = error ? nullptr : value.if_object();
  if (object == nullptr) return Error{Errc::invalid, "what answers there is no node"};
  constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
  TRY(const std::uint64_t cell,
      number_at(*object, "cell", std::numeric_limits<std::uint16_t>::max()));
  TRY(const std::uint64_t node, number_at(*object, "node", kMost32));
  TRY(const std::uint64_t start, number_at(*object, "start", kMost32));
  TRY(const std::uint64_t seq, number_at(*object, "seq", std::numeric_limits<std::int64_t>::max()));
  TRY(const std::uint64_t slots, number_at(*object, "slots", kMost32));
  TRY(const std::uint64_t free, number_at(*object, "free", slots));
  NodeState state{.node = {static_cast<std::uint16_t>(cell), static_cast<std::uint32_t>(node)},
                  .summary = {}};
  state.summary.gauge = {.at = {.epoch = static_cast<std::uint32_t>(start), .seq = seq},
                         .slots = static_cast<std::uint32_t>(slots),
                         .free = static_cast<std::uint32_t>(free),
                         .warm = {}};
  const json::value* const draining = object->if_contains("draining");
  state.summary.is_draining = draining != nullptr && draining->is_bool() && draining->get_bool();
  const json::value* const images = object->if_contains("images");
  if (images != nullptr && images->is_array()) {
    for (const json::value& image : images->get_array()) {
      if (image.is_string()) state.summary.gauge.warm.add(std::string_view{image.get_string()});
    }
  }
  read_policy(*object, state.summary);
  return state;
}

Registrar::Registrar(const asio::any_io_executor& executor, Parts parts)
    : parts_{std::move(parts)}, news_{executor, async::kNever} {
  const auto now = parts_.clock.wall().time_since_epoch();
  // Also of an earlier registrar's no two writings are alike.
  summary_.saying = static_cast<std::uint64_t>(now.count());
}

async::Task<NodeState> Registrar::look() {
  CO_TRY(const Said said, co_await parts_.ask({.path = "/v1/node"}));
  if (said.status != 200) {
    co_return Error{Errc::unavailable, fmt::format("the node answers {}", said.status)};
  }
  co_return read_node_state(said.body);
}

async::Task<NodeState> Registrar::first_look() {
  for (bool was_told = false;; was_told = true) {
    auto state = co_await look();
    if (state || state.error().code() == Errc::invalid) co_return state;
    if (!was_told) {
      log(LogLevel::info, "registrar", "waiting for the node", {{"why", state.error().text()}});
    }
    co_await etcd::sleep(parts_.rules.look);
  }
}

bool Registrar::took(const Result<NodeState>& seen, Registration& registration) {
  const Ticks now = parts_.clock.ticks();
  if (seen) {
    const bool is_same =
        seen->node == node_ && seen->summary.gauge.at.epoch == summary_.gauge.at.epoch;
    if (!is_same) return false;
    answered_at_ = now;
    const bool turns =
        took_policy(seen->summary) || seen->summary.is_draining != summary_.is_draining;
    summary_.gauge = seen->summary.gauge;
    summary_.is_draining = seen->summary.is_draining;
    if (turns) registration.changed();
    return true;
  }
  if (now - answered_at_ >= parts_.rules.gone) return false;
  if (now - answered_at_ >= parts_.rules.doubt && !summary_.is_draining) {
    log(LogLevel::warning, "registrar", "the node does not answer: it is given nothing new",
        {{"why", seen.error().text()}});
    summary_.is_draining = true;
    registration.changed();
  }
  return true;
}

// Outlives whatever refers to it, also where the node's attendance is cancelled.
struct Registrar::Attended {
  Registration registration;
  bool is_over = false;
};

async::Task<void> Registrar::attend_in(async::Scope& scope, Registrar*& self,
                                       std::unique_ptr<Attended>& attended) {
  const auto hold = [](Registrar& of, Attended& held) -> asio::awaitable<void> {
    const Status ended = co_await held.registration.run();
    held.is_over = true;
    if (ended.error().code() == Errc::denied) of.refused_ = ended.error();
    log(LogLevel::warning, "registrar", "the node is not registered any more",
        {{"why", ended.error().text()}});
  };
  scope.spawn(hold(*self, *attended));
  log(LogLevel::info, "registrar", "registering",
      {{"node", to_string(self->node_)},
       {"start", static_cast<std::int64_t>(self->summary_.gauge.at.epoch)}});
  bool is_same = true;
  while (is_same && !attended->is_over && !self->refused_) {
    co_await etcd::sleep(self->parts_.rules.look);
    is_same = self->took(co_await self->look(), attended->registration);
    if (is_same) co_await self->hand_release();
  }
  const bool was_over = attended->is_over;
  scope.cancel();
  co_await scope.join();
  // A later start of it writes over the key; one that is gone for long leaves nothing.
  if (!was_over) static_cast<void>(co_await attended->registration.leave());
  co_return Status{};
}

async::Task<void> Registrar::attend(NodeState state) {
  const std::uint64_t saying = summary_.saying;
  node_ = state.node;
  summary_ = std::move(state.summary);
  summary_.address = parts_.address;
  summary_.saying = saying;
  answered_at_ = parts_.clock.ticks();
  offered_.reset();
  unfit_.reset();
  const auto say = [this] {
    ++summary_.saying;
    return summary_;
  };
  auto attended = std::unique_ptr<Attended>{new Attended{
      .registration{parts_.cell, node_, summary_.gauge.at.epoch, parts_.rules.registration, say}}};
  co_return co_await async::in_scope(attend_in, this, std::move(attended));
}

void Registrar::heard(std::span<const etcd::Event> events) {
  for (const etcd::Event& event : events) {
    if (event.kind == etcd::Event::Kind::removed) continue;
    const auto revocation = decode_revocation(event.now.key, event.now.value);
    if (revocation) untold_[revocation->id] = revocation->until;
  }
  news_.cancel();
}

asio::awaitable<void> Registrar::follow_revoked() {
  etcd::Mirror mirror{parts_.all, std::string{kRevocations},
                      [this](const std::vector<etcd::Event>& events) { heard(events); }};
  const Status ended = co_await mirror.run();
  refused_ = ended.error();
  log(LogLevel::error, "registrar", "revocations are not followed any more",
      {{"why", ended.error().text()}});
}

// The node keeps what it was told, over its own deaths.
asio::awaitable<void> Registrar::tell() {
  for (;;) {
    if (untold_.empty()) {
      co_await news_.async_wait(async::kQuiet);
      continue;
    }
    const auto [id, until] = *untold_.begin();
    const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
    if (until > now) {
      const auto said =
          co_await parts_.ask({.method = "POST",
                               .path = fmt::format("/v1/tokens/revoke?id={}&seconds={}", to_hex(id),
                                                   (until - now).count())});
      if (!said || said->status >= 300) {
        co_await etcd::sleep(parts_.rules.look);
        continue;
      }
    }
    const auto told = untold_.find(id);
    if (told != untold_.end() && told->second == until) untold_.erase(told);
  }
}

async::Task<void> Registrar::run_in(async::Scope& scope, Registrar*& self) {
  scope.spawn(self->follow_revoked());
  scope.spawn(self->follow_policy());
  scope.spawn(self->tell());
  Status ended;
  while (ended && !self->refused_) {
    auto state = co_await self->first_look();
    ended = state ? co_await self->attend(*std::move(state)) : state.error();
  }
  scope.cancel();
  if (self->refused_) co_return *self->refused_;
  co_return ended;
}

async::Task<void> Registrar::run() { return async::in_scope(run_in, this); }

}  // namespace cordon::fleet
