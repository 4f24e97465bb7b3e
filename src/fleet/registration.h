// SPDX-License-Identifier: Apache-2.0
// A node's place in the fleet: its key in etcd, under a lease that lives as long as it does.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "etcd/own_key.h"
#include "fleet/node_id.h"
#include "fleet/summary.h"

namespace cordon::fleet {

// Used from the loop's thread only.
class Registration {
 public:
  struct Rules {
    // Five times what an election takes, so that none costs a lease.
    std::chrono::seconds ttl{12};
    std::chrono::milliseconds every{10'000};  // how often the summary is looked at, at most
  };
  // What there is to say now. Each has a later stamp than the one before.
  using Tell = std::function<Summary()>;

  // `client` and what `tell` refers to outlive it. `epoch`: which start of the node this is.
  Registration(etcd::Client& client, NodeId node, std::uint32_t epoch, Rules rules, Tell tell);
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  // Registers, and again whenever the lease was lost; writes the summary where it differs enough.
  // While etcd is away it goes on trying. Ends cancelled, or with
  //   exists   a later start of this node is registered: this one is not wanted any more
  //   denied   this identity may not write that key
  async::Task<void> run();

  // Says what is new at once: draining.
  void changed();

  // Takes the key away, and the lease. After run() has ended.
  async::Task<void> leave();

  // Until when the lease surely lives. Nothing: there is none.
  std::optional<Ticks> lease_until() const noexcept { return until_; }

 private:
  struct Holding;
  static async::Task<void> hold(async::Scope& scope, Registration*& self,
                                std::shared_ptr<Holding>& holding);
  async::Task<void> publish(std::shared_ptr<Holding> holding);
  asio::awaitable<void> keep(std::shared_ptr<Holding> holding);
  bool may_replace(const etcd::KeyValue& standing) const;

  etcd::Client& client_;
  std::uint32_t epoch_;
  Rules rules_;
  Tell tell_;
  etcd::OwnKey key_;
  std::optional<Summary> written_;  // under the lease that there is
  std::optional<Ticks> until_;
  std::weak_ptr<Holding> holding_;
  etcd::LeaseId lease_ = etcd::LeaseId::none;
};

}  // namespace cordon::fleet
