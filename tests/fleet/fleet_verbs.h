// SPDX-License-Identifier: Apache-2.0
// Commands of the driver that make it a node, a gateway or a cell.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "async/waiting.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "etcd/sleep.h"
#include "etcd/status.h"
#include "fleet/confer.h"
#include "fleet/registration.h"
#include "fleet/roster.h"
#include "said.h"

namespace cordon::fleet_test {

class FleetVerbs {
 public:
  explicit FleetVerbs(etcd::Client& client) : client_{client} {}

  static constexpr auto verbs() {
    using V = FleetVerbs;
    return std::to_array<Verb<V>>({{"register", &V::enrol},
                                   {"free", &V::free},
                                   {"drain", &V::drain},
                                   {"follow", &V::follow},
                                   {"roster", &V::roster},
                                   {"answers", &V::answers},
                                   {"silent", &V::silent},
                                   {"quota", &V::quota},
                                   {"demand", &V::demand},
                                   {"running", &V::running}});
  }

 private:
  using Said = async::Task<std::string>;

  static std::uint32_t number_at(const Words& words, std::size_t at) {
    return static_cast<std::uint32_t>(std::stoul(words.at(at)));
  }

  // CELL NODE EPOCH TTL MILLISECONDS, until it is over.
  Said enrol(std::string /*number*/, Words words) {
    const fleet::NodeId node{static_cast<std::uint16_t>(number_at(words, 1)), number_at(words, 2)};
    const fleet::Registration::Rules rules{std::chrono::seconds{number_at(words, 4)},
                                           std::chrono::milliseconds{number_at(words, 5)}};
    said_.gauge.at.epoch = number_at(words, 3);
    registration_.emplace(client_, node, said_.gauge.at.epoch, rules, [this] {
      ++said_.gauge.at.seq;
      return said_;
    });
    CO_TRY_DO(co_await registration_->run());
    co_return kDone;
  }
  // NUMBER
  Said free(std::string /*number*/, Words words) {
    said_.gauge.free = number_at(words, 1);
    if (registration_) registration_->changed();
    co_return kDone;
  }
  Said drain(std::string /*number*/, Words /*words*/) {
    said_.is_draining = true;
    if (registration_) registration_->changed();
    co_return kDone;
  }

  // Cell 1, until it is over.
  Said follow(std::string /*number*/, Words /*words*/) {
    CO_TRY_DO(
        co_await fleet::follow(client_, 1, roster_, clock_, [](const fleet::Roster::News&) {}));
    co_return kDone;
  }
  // Each node of cell 1 with its standing.
  Said roster(std::string /*number*/, Words /*words*/) {
    const Ticks now = clock_.ticks();
    roster_.tick(now);
    std::string placeable;
    std::string others;
    for (const fleet::NodeId node : roster_.all()) {
      const bool is_placeable = roster_.standing(node, now) == fleet::Standing::placeable;
      std::string& to = is_placeable ? placeable : others;
      to.append(to.empty() ? "" : ",").append(std::to_string(node.node));
    }
    co_return "\"placeable\":[" + placeable + "],\"others\":[" + others +
        "],\"frozen\":" + (roster_.is_frozen(1) ? "true" : "false");
  }
  // NODE...
  Said answers(std::string /*number*/, Words words) {
    for (std::size_t at = 1; at < words.size(); ++at) {
      roster_.answered({1, number_at(words, at)}, std::nullopt, clock_.ticks());
    }
    co_return kDone;
  }
  Said silent(std::string /*number*/, Words words) {
    for (std::size_t at = 1; at < words.size(); ++at) {
      roster_.unanswered({1, number_at(words, at)}, clock_.ticks());
    }
    co_return kDone;
  }

  // CELL TENANT: as many run as are demanded and may.
  Said quota(std::string /*number*/, Words words) {
    quota_.emplace(static_cast<fleet::Cell>(number_at(words, 1)));
    fleet::CellQuota& quota = *quota_;
    for (;;) {
      const Status done =
          co_await fleet::confer(client_, fleet::quota_key_of(words.at(2)), quota, clock_);
      if (!done && !etcd::is_passing(done.error().code())) co_return done.error();
      while (quota.used() > demand_) quota.ended();
      while (quota.used() < demand_ && quota.admit(clock_.ticks())) continue;
      co_await etcd::sleep(std::chrono::milliseconds{50});
    }
  }
  // NUMBER
  Said demand(std::string number, Words words) {
    demand_ = number_at(words, 1);
    co_return co_await running(number, words);
  }
  Said running(std::string /*number*/, Words /*words*/) {
    co_return "\"running\":" + std::to_string(quota_ ? quota_->used() : 0);
  }

  etcd::Client& client_;
  SystemClock clock_;
  fleet::Summary said_{.address = "127.0.0.1:7070", .gauge = {.slots = 100, .free = 100}};
  std::optional<fleet::Registration> registration_;
  fleet::Roster roster_{{}, [](std::size_t) { return std::size_t{0}; }};
  std::optional<fleet::CellQuota> quota_;
  std::uint64_t demand_ = 0;
};

}  // namespace cordon::fleet_test
