// SPDX-License-Identifier: Apache-2.0
#include "node/budgets.h"

#include <algorithm>

#include <fmt/format.h>

namespace cordon::node {
namespace {

using token::Quantity;

Error spent(Quantity quantity, std::uint64_t most) {
  const auto& row = token::all_quantities()[static_cast<std::size_t>(quantity)];
  return Error{Errc::exhausted,
               fmt::format("the token's budget is spent: {}={} ({}); end a sandbox that was made "
                           "with it, ask for smaller limits, or ask for a token with more",
                           row.name, most, row.meaning)};
}

// How much of it one sandbox holds while it lives; nothing: without bounds.
std::optional<std::uint64_t> demand_of(const plan::Lowered& lowered, Quantity quantity) {
  switch (quantity) {
    case Quantity::sandboxes:
      return 1;
    case Quantity::processes:
      return lowered.plan.limits.pids;
    case Quantity::milli_cpus:
      return lowered.plan.limits.milli_cpus;
    case Quantity::memory_bytes:
      return lowered.plan.limits.memory;
    case Quantity::disk_bytes:
      return lowered.plan.disk.bytes;
    case Quantity::creates_per_minute:  // counted by the minute
    case Quantity::egress_bytes:        // refused before
      return 0;
  }
  return std::nullopt;
}

}  // namespace

Budgets::Share::Share(std::shared_ptr<Held> held, std::vector<Charge> charges)
    : held_{std::move(held)}, charges_{std::move(charges)} {
  for (const Charge& charge : charges_) {
    (*held_)[{charge.account, charge.quantity}] += charge.amount;
  }
}

Budgets::Share& Budgets::Share::operator=(Share&& other) noexcept {
  if (this != &other) {
    give_back();
    held_ = std::move(other.held_);
    charges_ = std::move(other.charges_);
  }
  return *this;
}

void Budgets::Share::give_back() {
  if (!held_) return;
  for (const Charge& charge : charges_) {
    const auto found = held_->find({charge.account, charge.quantity});
    if (found == held_->end()) continue;
    found->second -= std::min(charge.amount, found->second);
    if (found->second == 0) held_->erase(found);
  }
  held_.reset();
  charges_.clear();
}

std::uint64_t Budgets::held(const token::RevocationId& account, Quantity quantity) const {
  const auto found = held_->find({account, quantity});
  return found == held_->end() ? 0 : found->second;
}

Status Budgets::count_create(const token::Allowance& allowance) {
  const Ticks now = clock_.ticks();
  const auto second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  if (windows_.size() >= kMostWindows) {
    std::erase_if(windows_, [&](const auto& each) {
      return each.second.used().second + MinuteWindow::kSeconds < second;
    });
  }
  if (windows_.size() >= kMostWindows && !windows_.contains(allowance.account)) {
    return Error{Errc::exhausted, "too many tokens with budgets are in use; try again in a minute"};
  }
  const auto window = windows_.try_emplace(allowance.account, MinuteWindow{allowance.most}).first;
  window->second.set_most(allowance.most);
  if (window->second.take(now)) return {};
  return spent(allowance.quantity, allowance.most);
}

Result<Budgets::Share> Budgets::take(const token::Authority& authority,
                                     const plan::Lowered& lowered) {
  std::vector<Charge> charges;
  std::map<Key, std::uint64_t> wanted;  // of accounts that are named twice
  for (const token::Allowance& each : authority.allowances()) {
    if (each.quantity == Quantity::egress_bytes && lowered.network) {
      return Error{Errc::unavailable,
                   "the token has a budget of egress_bytes, which this node does not count: with "
                   "it a sandbox has no network"};
    }
    const auto demand = demand_of(lowered, each.quantity);
    const Key key{each.account, each.quantity};
    const std::uint64_t before = held(each.account, each.quantity);
    if (!demand || *demand > each.most || before > each.most - *demand) {
      return spent(each.quantity, each.most);
    }
    // Two budgets of one account and quantity bound the same: it is charged once.
    if (*demand > 0 && wanted.emplace(key, *demand).second) {
      charges.push_back({each.quantity, *demand, each.account});
    }
  }
  // Last: of what is refused above nothing was counted.
  for (const token::Allowance& each : authority.allowances()) {
    if (each.quantity == Quantity::creates_per_minute) TRY_DO(count_create(each));
  }
  return Share{held_, std::move(charges)};
}

}  // namespace cordon::node
