// SPDX-License-Identifier: Apache-2.0
#include "node/networks.h"

#include "plan/trust.h"

namespace cordon::node {
namespace {

constexpr std::chrono::seconds kSoon{1};

}  // namespace

NetworkShare::NetworkShare(const asio::any_io_executor& executor, TenantNetwork& network,
                           audit::Log& log, audit::Subject subject, SandboxId id)
    : network_{network},
      id_{std::move(id)},
      record_{log, std::move(subject), {}},
      soon_{executor, kSoon, [this] { record_.tell_counted(); }} {
  record_.when_counted([this] { soon_.want(); });
}

async::Task<void> NetworkShare::begin(plan::Lowered& lowered, const std::string& state) {
  if (!lowered.network) co_return Status{};
  CO_TRY(const frame::Serving serving, co_await network_.serve(*lowered.network, record_.ears()));
  if (serving.certificate.empty()) co_return Status{};
  CO_TRY(TrustBundle bundle, TrustBundle::write(state, id_, serving.certificate));
  plan::add_authorities(lowered, bundle.path(), bundle.system());
  bundle_.emplace(std::move(bundle));
  co_return Status{};
}

void NetworkShare::go_on(const frame::Serve& serve, const std::string& state) {
  bundle_.emplace(TrustBundle::adopt(state, id_));
  network_.serve_again(serve, record_.ears());
}

TenantNetwork& Networks::of(const std::string& tenant) {
  auto& network = networks_[tenant];
  if (!network) {
    network = std::make_unique<TenantNetwork>(
        executor_, [this, tenant](os::Fd state) { return open_(tenant, std::move(state)); });
    scope_->spawn(network->keep());
  }
  return *network;
}

std::unique_ptr<NetworkShare> Networks::share(const std::string& tenant, audit::Subject subject,
                                              SandboxId id) {
  return std::make_unique<NetworkShare>(executor_, of(tenant), log_, std::move(subject),
                                        std::move(id));
}

}  // namespace cordon::node
