// SPDX-License-Identifier: Apache-2.0
// The broker of one tenant: keeps its secrets, and is told which sandbox may use which for what.
// Started when it is first needed, replaced when it dies, and told everything again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "base/wiped.h"
#include "node/broker_owner.h"
#include "node/held_grant.h"
#include "os/fd.h"

namespace cordon::node {

// What one sandbox may use of its tenant's secrets.
struct GrantedSecrets {
  std::vector<HeldGrant> grants;
  WallTime began{};                                   // from which their life counts
  std::function<void(const frame::GrantUsed&)> used;  // each use, before it happens
};

// Used from the loop's thread only.
class TenantBroker {
 public:
  // Both outlive it.
  struct Ways {
    // The owner's link to a new broker, beside an egress that runs.
    std::function<async::Task<os::Fd>()> open;
    // Brings the egress its end of a socket to the broker.
    std::function<async::Task<void>(os::Fd)> connect;
  };
  // `clock` outlives it.
  TenantBroker(asio::any_io_executor executor, const Clock& clock, std::string tenant, Ways ways);
  TenantBroker(const TenantBroker&) = delete;
  TenantBroker& operator=(const TenantBroker&) = delete;

  // Starts a broker once one is wanted, and replaces one that has died: no credential is given
  // meanwhile. Ends when it is cancelled. What hears it runs in `scope`.
  asio::awaitable<void> keep(async::Scope& scope);

  // Returns when it is on the broker's disk, sealed. Grants that were made of one of that name go
  // on with the new one. `secret` is wiped.
  async::Task<void> put(std::string name, WipedBytes secret);
  // False: there was none. From here on no request is given it.
  async::Task<bool> drop(std::string name);
  async::Task<std::vector<std::string>> names();

  // Before the sandbox is launched: returns when the broker holds every grant. `invalid`: a secret
  // is not there.
  async::Task<void> grant(std::string sandbox, GrantedSecrets granted);
  // Of one that lives already, which does without those whose secret is gone.
  async::Task<void> grant_again(std::string sandbox, GrantedSecrets granted);
  // Those that it has now: not of secrets that were deleted since.
  std::vector<HeldGrant> grants_of(const std::string& sandbox) const;
  // The sandbox has ended: nothing is given to it any more.
  void forget(const std::string& sandbox);

  // The egress was replaced: it needs a way to the broker again.
  async::Task<void> reconnect();

 private:
  async::Task<std::shared_ptr<BrokerOwner>> wanted_owner();
  async::Task<void> start(async::Scope& scope);
  async::Task<void> connect(const std::shared_ptr<BrokerOwner>& owner) const;
  // Those that `meant` takes; of a secret that is gone, none.
  async::Task<void> bind_again(const std::shared_ptr<BrokerOwner>& owner,
                               std::function<bool(const HeldGrant&)> meant);
  async::Task<void> bind(const std::shared_ptr<BrokerOwner>& owner, std::string sandbox,
                         WallTime began, HeldGrant held) const;
  bool holds(const std::string& sandbox, const HeldGrant& held) const;
  void hear_use(const frame::GrantUsed& use) const;

  asio::any_io_executor executor_;
  const Clock& clock_;
  std::string tenant_;
  Ways ways_;
  std::map<std::string, GrantedSecrets> members_;
  std::shared_ptr<BrokerOwner> owner_;  // shared with what hears it
  bool is_wanted_ = false;
  std::vector<std::string> ended_;  // sandboxes that the broker has to be told of
  asio::steady_timer news_;         // never fires: cancelled when something has changed
};

}  // namespace cordon::node
