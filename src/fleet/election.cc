// SPDX-License-Identifier: Apache-2.0
#include "fleet/election.h"

#include <algorithm>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "async/waiting.h"
#include "base/log.h"
#include "etcd/lease.h"
#include "etcd/own_key.h"
#include "etcd/pause.h"
#include "etcd/sleep.h"
#include "etcd/status.h"
#include "fleet/index_key.h"

namespace cordon::fleet {
namespace {

// What clocks of a fleet differ by is far less.
constexpr std::uint64_t kBehind = 60'000;  // milliseconds

}  // namespace

Election::Election(const asio::any_io_executor& executor, etcd::Client& client, std::uint16_t cell,
                   std::string address, const Clock& clock, Rules rules)
    : client_{client},
      key_{index_key_of(cell)},
      address_{std::move(address)},
      clock_{clock},
      rules_{rules},
      overtaken_{executor, async::kNever} {}

std::optional<std::uint64_t> Election::acts() const {
  if (!is_elected_ || clock_.ticks() >= until_ - rules_.margin) return std::nullopt;
  return number_;
}

std::optional<std::uint64_t> Election::elected() const {
  return is_elected_ ? std::optional{number_} : std::nullopt;
}

void Election::overtaken() {
  if (!std::exchange(is_elected_, false)) return;
  ahead_ += kBehind;
  overtaken_.cancel();
}

// Asked before a lease is granted: that would be a write for each look.
async::Task<bool> Election::is_held() {
  CO_TRY(const etcd::Found found, co_await client_.range({.keys = etcd::only(key_)}));
  co_return !found.values.empty();
}

async::Task<void> Election::hold() {
  using asio::experimental::awaitable_operators::operator||;
  const auto first = co_await (
      etcd::keep_alive(client_, lease_, rules_.ttl, [this](Ticks until) { until_ = until; }) ||
      overtaken_.async_wait(async::kQuiet));
  is_elected_ = false;
  log(LogLevel::warning, "index", "it does not act any more",
      {{"why", first.index() == 0 ? std::get<0>(first).error().text()
                                  : std::string{"a node has heard of a later one"}}});
  co_return co_await leave();
}

async::Task<void> Election::stand() {
  CO_TRY(const bool is_taken, co_await is_held());
  if (is_taken) co_return Error{Errc::exists, "another acts"};
  lease_ = etcd::fresh_lease_id();
  const Ticks asked = clock_.ticks();
  CO_TRY_DO(co_await client_.grant(lease_, rules_.ttl));
  const auto now = std::chrono::floor<std::chrono::milliseconds>(clock_.wall()).time_since_epoch();
  number_ = std::max(number_ + 1, static_cast<std::uint64_t>(now.count()) + ahead_);
  etcd::OwnKey own{client_, key_, [](const etcd::KeyValue&) { return false; }};
  const Status written =
      co_await own.write(encode({.address = address_, .number = number_}), lease_);
  if (!written) {
    // One that may have been written all the same goes with it.
    static_cast<void>(co_await leave());
    co_return written;
  }
  until_ = asked + rules_.ttl;
  is_elected_ = true;
  log(LogLevel::info, "index", "it acts", {{"number", static_cast<std::int64_t>(number_)}});
  co_return co_await hold();
}

async::Task<void> Election::run() {
  etcd::Pause pause;
  for (;;) {
    const Status ended = co_await stand();
    if (ended || ended.error().code() == Errc::exists) {
      pause.reset();
      co_await etcd::sleep(rules_.look);
    } else if (etcd::is_passing(ended.error().code()) || ended.error().code() == Errc::not_found) {
      co_await etcd::sleep(pause.next());
    } else {
      co_return ended;
    }
  }
}

async::Task<void> Election::leave() {
  is_elected_ = false;
  if (lease_ == etcd::LeaseId::none) co_return Status{};
  co_return co_await client_.revoke(std::exchange(lease_, etcd::LeaseId::none),
                                    etcd::Client::kOneMember);
}

}  // namespace cordon::fleet
