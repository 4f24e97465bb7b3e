// SPDX-License-Identifier: Apache-2.0
// The networks of all tenants, each begun when its first sandbox wants out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "async/scope.h"
#include "async/soon.h"
#include "async/task.h"
#include "audit/log.h"
#include "base/id.h"
#include "node/network_record.h"
#include "node/tenant_network.h"
#include "node/trust_bundle.h"
#include "plan/lower.h"

namespace cordon::node {

// What one sandbox has of its tenant's network. It is told no more when this goes.
class NetworkShare {
 public:
  // All outlive it.
  NetworkShare(const asio::any_io_executor& executor, TenantNetwork& network, audit::Log& log,
               audit::Subject subject, SandboxId id);
  NetworkShare(const NetworkShare&) = delete;
  NetworkShare& operator=(const NetworkShare&) = delete;
  ~NetworkShare() { network_.forget(id_.text()); }

  // Before the launch: when this returns the egress knows what the sandbox may reach, and the plan
  // has what its clients need to trust it. `state`: the node's directory.
  async::Task<void> begin(plan::Lowered& lowered, const std::string& state);
  // Of one that lives already: it is served as soon as there is an egress, however long that takes.
  void go_on(const frame::Serve& serve, const std::string& state);

  // Told of each refusal that is not like one before; it outlives this.
  void when_refused(std::function<void(const Denial&)> act) {
    record_.when_refused(std::move(act));
  }
  void count_in(Responses& responses) { record_.count_in(responses); }
  std::vector<Denial> take_denials() { return record_.take_denials(); }
  // Bytes, in all, as far as the egress has told.
  std::uint64_t sent() const noexcept { return record_.sent(); }
  // One use of a secret.
  void used(const frame::GrantUsed& use) { record_.used(use); }

 private:
  TenantNetwork& network_;
  SandboxId id_;
  NetworkRecord record_;
  // What a flood has left to be counted is written before long, also where nothing follows it.
  async::Soon soon_;
  std::optional<TrustBundle> bundle_;
};

// Used from the loop's thread only.
class Networks {
 public:
  // As of TenantNetwork; `tenant` is as the launcher knows it.
  using Open = std::function<async::Task<sandbox::OpenedEgress>(std::string tenant, os::Fd state)>;
  // `log` outlives it.
  Networks(asio::any_io_executor executor, Open open, audit::Log& log)
      : executor_{std::move(executor)}, open_{std::move(open)}, log_{log} {}

  // In `scope`, which ends before this does.
  void live_in(async::Scope& scope) { scope_ = &scope; }

  TenantNetwork& of(const std::string& tenant);
  // What it does is recorded of `subject`, who names its tenant as clients do.
  std::unique_ptr<NetworkShare> share(const std::string& tenant, audit::Subject subject,
                                      SandboxId id);

 private:
  asio::any_io_executor executor_;
  Open open_;
  audit::Log& log_;
  async::Scope* scope_ = nullptr;
  std::map<std::string, std::unique_ptr<TenantNetwork>> networks_;
};

}  // namespace cordon::node
