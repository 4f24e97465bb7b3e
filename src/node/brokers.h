// SPDX-License-Identifier: Apache-2.0
// The brokers of all tenants, each begun when its tenant first keeps or uses a secret.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "base/id.h"
#include "node/networks.h"
#include "node/tenant_broker.h"

namespace cordon::node {

// What one sandbox has of its tenant's secrets. Nothing is given to it any more when this goes.
class SecretsShare {
 public:
  // `broker` outlives it.
  SecretsShare(TenantBroker& broker, std::string sandbox)
      : broker_{broker}, sandbox_{std::move(sandbox)} {}
  SecretsShare(const SecretsShare&) = delete;
  SecretsShare& operator=(const SecretsShare&) = delete;
  ~SecretsShare() { broker_.forget(sandbox_); }

  async::Task<void> begin(GrantedSecrets granted) {
    return broker_.grant(sandbox_, std::move(granted));
  }
  // Of one that lives already.
  async::Task<void> go_on(GrantedSecrets granted) {
    return broker_.grant_again(sandbox_, std::move(granted));
  }
  // What it has now: a secret may have been deleted meanwhile.
  std::vector<HeldGrant> grants() const { return broker_.grants_of(sandbox_); }

 private:
  TenantBroker& broker_;
  std::string sandbox_;
};

// Used from the loop's thread only.
class Brokers {
 public:
  // `tenant` is as the launcher knows it, here and below. All outlive it.
  using Open = std::function<async::Task<os::Fd>(std::string tenant)>;
  Brokers(asio::any_io_executor executor, const Clock& clock, Open open, Networks& networks)
      : executor_{std::move(executor)},
        clock_{clock},
        open_{std::move(open)},
        networks_{networks} {}

  // In `scope`, which ends before this does.
  void live_in(async::Scope& scope) { scope_ = &scope; }

  TenantBroker& of(const std::string& tenant);

 private:
  async::Task<os::Fd> open(TenantNetwork& network, std::string tenant) const;

  asio::any_io_executor executor_;
  const Clock& clock_;
  Open open_;
  Networks& networks_;
  async::Scope* scope_ = nullptr;
  std::map<std::string, std::unique_ptr<TenantBroker>> brokers_;
};

}  // namespace cordon::node
