// SPDX-License-Identifier: Apache-2.0
#include "node/brokers.h"

namespace cordon::node {

// The launcher starts a broker beside an egress, under ids of the same tenant.
async::Task<os::Fd> Brokers::open(TenantNetwork& network, std::string tenant) const {
  CO_TRY_DO(co_await network.opened());
  co_return co_await open_(std::move(tenant));
}

TenantBroker& Brokers::of(const std::string& tenant) {
  auto& broker = brokers_[tenant];
  if (broker) return *broker;
  TenantNetwork& network = networks_.of(tenant);
  broker = std::make_unique<TenantBroker>(
      executor_, clock_, tenant,
      TenantBroker::Ways{
          .open = [this, &network, tenant] { return open(network, tenant); },
          .connect = [&network](os::Fd fd) { return network.use_broker(std::move(fd)); }});
  network.when_opened([own = broker.get()] { return own->reconnect(); });
  scope_->spawn(broker->keep(*scope_));
  return *broker;
}

}  // namespace cordon::node
