// SPDX-License-Identifier: Apache-2.0
#include "fleet/unit_book.h"

namespace cordon::fleet {

void UnitBook::begin(std::uint64_t index) {
  if (index == index_) return;
  index_ = index;
  next_ = 1;
  accounts_.clear();
}

void UnitBook::settle(const std::string& tenant, const wire::Unit& unit) {
  if (unit.index != index_) return;
  const auto found = accounts_.find(tenant);
  if (found != accounts_.end()) found->second->units.settle(names_.number_of(unit.number));
}

void UnitBook::forget_void(Ticks all_read) {
  for (const auto& [tenant, account] : accounts_) account->units.forget_void(all_read);
}

UnitBook::Shared UnitBook::account(const std::string& tenant) {
  Shared& account = accounts_[tenant];
  if (!account) account = std::make_shared<Account>(Account{.units = TenantUnits{cell_}});
  return account;
}

std::vector<std::uint64_t> UnitBook::take(Account& account, std::uint64_t running,
                                          std::uint32_t wanted, Ticks now) {
  const TenantUnits::Chunk chunk = account.units.take(next_, running, wanted, now);
  std::vector<std::uint64_t> named;
  named.reserve(chunk.count);
  for (std::uint32_t at = 0; at < chunk.count; ++at) named.push_back(names_.name_of(next_++));
  return named;
}

}  // namespace cordon::fleet
