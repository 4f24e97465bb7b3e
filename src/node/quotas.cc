// SPDX-License-Identifier: Apache-2.0
#include "node/quotas.h"

#include <algorithm>

#include <fmt/format.h>

namespace cordon::node {
namespace {

Error reached(const std::string& tenant, std::string_view what, std::uint64_t most,
              std::string_view help) {
  return Error{Errc::exhausted, fmt::format("tenant {} has reached its quota of {} {}; {}", tenant,
                                            most, what, help)};
}

}  // namespace

Quotas::Share::Share(std::shared_ptr<Account> account, Demand demand)
    : account_{std::move(account)}, demand_{demand} {
  ++account_->sandboxes;
  account_->milli_cpus += demand.milli_cpus;
  account_->memory += demand.memory;
}

Quotas::Share& Quotas::Share::operator=(Share&& other) noexcept {
  if (this != &other) {
    give_back();
    account_ = std::move(other.account_);
    demand_ = other.demand_;
  }
  return *this;
}

Quotas::Share::~Share() { give_back(); }

void Quotas::Share::give_back() {
  if (!account_) return;
  --account_->sandboxes;
  account_->milli_cpus -= demand_.milli_cpus;
  account_->memory -= demand_.memory;
  account_.reset();
}

std::shared_ptr<Quotas::Account> Quotas::account_of(const std::string& tenant) {
  auto& account = accounts_[tenant];
  if (!account) account = std::make_shared<Account>();
  return account;
}

Quota Quotas::quota_of(const std::string& tenant) const {
  const auto found = settings_.tenants.find(tenant);
  const Quota& own = found == settings_.tenants.end() ? settings_.quota : found->second.quota;
  return release_ ? gate::lesser(own, release_->quota_of(tenant)) : own;
}

// A second's worth may come at once; what is not used does not add up.
Status Quotas::count_create(Account& account, const Quota& quota, const std::string& tenant) const {
  if (!quota.creates_per_second) return {};
  const auto rate = static_cast<double>(*quota.creates_per_second);
  const Ticks now = clock_.ticks();
  const double since = std::chrono::duration<double>(now - account.filled).count();
  account.creates_left =
      account.is_new ? rate : std::min(rate, account.creates_left + since * rate);
  account.is_new = false;
  account.filled = now;
  if (account.creates_left < 1) {
    return reached(tenant, "creates per second", *quota.creates_per_second,
                   "try again in a second");
  }
  account.creates_left -= 1;
  return {};
}

Result<Quotas::Request> Quotas::begin_request(const std::string& tenant) {
  auto account = account_of(tenant);
  const std::uint64_t most = quota_of(tenant).requests;
  if (account->requests >= most) {
    return reached(tenant, "requests at once", most, "end a stream, or wait for an answer");
  }
  return Request{std::move(account)};
}

Result<Quotas::Share> Quotas::take(const std::string& tenant, const Demand& demand) {
  const auto account = account_of(tenant);
  const Quota quota = quota_of(tenant);
  if (quota.sandboxes && account->sandboxes >= *quota.sandboxes) {
    return reached(tenant, "living sandboxes", *quota.sandboxes, "end one first");
  }
  if (quota.milli_cpus && account->milli_cpus + demand.milli_cpus > *quota.milli_cpus) {
    return reached(tenant, "thousandths of a processor", *quota.milli_cpus,
                   "end a sandbox, or ask for a smaller cpu_limit");
  }
  if (quota.memory && account->memory + demand.memory > *quota.memory) {
    return reached(tenant, "bytes of memory", *quota.memory,
                   "end a sandbox, or ask for a smaller memory_limit");
  }
  TRY_DO(count_create(*account, quota, tenant));
  return Share{account, demand};
}

Quotas::Share Quotas::take_over(const std::string& tenant, const Demand& demand) {
  return Share{account_of(tenant), demand};
}

std::uint64_t Quotas::sandboxes_of(const std::string& tenant) const {
  const auto found = accounts_.find(tenant);
  return found == accounts_.end() ? 0 : found->second->sandboxes;
}

}  // namespace cordon::node
