// SPDX-License-Identifier: Apache-2.0
#include "egress/budget.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace cordon::egress {
namespace {

std::optional<TokenBucket> bandwidth_of(const policy::Limits& limits, Ticks now) {
  if (!limits.bandwidth) return std::nullopt;
  // A second's worth at once.
  return TokenBucket{static_cast<double>(*limits.bandwidth), *limits.bandwidth, now};
}

}  // namespace

EgressBudget::EgressBudget(const policy::Limits& limits, Ticks now)
    : most_connections_{limits.connections.value_or(kConnections)},
      names_{kNamesPerSecond, kNamesAtOnce, now},
      out_{bandwidth_of(limits, now)},
      in_{bandwidth_of(limits, now)},
      most_bytes_{limits.egress},
      bytes_left_{limits.egress.value_or(0)} {
  if (limits.requests_per_minute) requests_.emplace(*limits.requests_per_minute);
}

std::optional<BudgetRefusal> EgressBudget::open_connection() {
  if (open_ >= most_connections_) {
    return BudgetRefusal{BudgetKind::connections,
                         fmt::format("more than {} connections at once", most_connections_)};
  }
  ++open_;
  return std::nullopt;
}

void EgressBudget::close_connection() {
  assert(open_ > 0);
  --open_;
}

std::optional<BudgetRefusal> EgressBudget::request(Ticks now) {
  if (!requests_ || requests_->take(now)) return std::nullopt;
  return BudgetRefusal{BudgetKind::requests,
                       fmt::format("more than {} requests in a minute", requests_->most())};
}

std::optional<BudgetRefusal> EgressBudget::fresh_name(Ticks now) {
  if (names_.take(1, now)) return std::nullopt;
  return BudgetRefusal{BudgetKind::names,
                       fmt::format("more than {} new names in a short time", kNamesAtOnce)};
}

EgressBudget::Allowance EgressBudget::move(Direction direction, std::uint64_t wanted, Ticks now) {
  assert(wanted > 0);
  const bool counted = direction == Direction::out && most_bytes_;
  if (counted && bytes_left_ == 0) {
    return {.spent = BudgetRefusal{BudgetKind::bytes,
                                   fmt::format("more than {} bytes sent", *most_bytes_)}};
  }
  if (counted) wanted = std::min(wanted, bytes_left_);
  Allowance allowance{.bytes = wanted};
  if (auto& bucket = rate(direction)) {
    allowance.bytes = bucket->take_some(wanted, now);
    // Not byte by byte: as soon as a packet's worth is there.
    constexpr std::uint64_t kWorthWhile = 1400;
    if (allowance.bytes == 0) allowance.wait = bucket->wait_for(std::min(wanted, kWorthWhile), now);
  }
  if (counted) bytes_left_ -= allowance.bytes;
  return allowance;
}

}  // namespace cordon::egress
