// SPDX-License-Identifier: Apache-2.0
#include "egress/budget.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

namespace cordon::egress {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// As it lies in memory that outlives us.
struct KeptUse {
  std::uint64_t bytes = 0;
  MinuteWindow::Used requests;
};
static_assert(sizeof(KeptUse) <= EgressBudget::kKeptSize && std::is_trivially_copyable_v<KeptUse>);

KeptUse kept_in(std::span<const std::byte> memory, Ticks now) {
  KeptUse kept;
  if (memory.size() >= sizeof kept) std::memcpy(&kept, memory.data(), sizeof kept);
  // The clock is the machine's, and goes on while nobody counts.
  const auto second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  kept.requests.second = std::clamp<std::int64_t>(kept.requests.second, 0, second);
  return kept;
}

void change_rate(std::optional<TokenBucket>& bucket, const policy::Limits& limits, Ticks now) {
  if (!limits.bandwidth) return bucket.reset();
  // A second's worth at once.
  const auto rate = static_cast<double>(*limits.bandwidth);
  if (bucket) return bucket->change(rate, *limits.bandwidth, now);
  bucket.emplace(rate, *limits.bandwidth, now);
}

}  // namespace

EgressBudget::EgressBudget(const policy::Limits& limits, Ticks now, std::span<std::byte> kept)
    : most_connections_{kConnections},
      requests_{kUnlimited},
      names_{kNamesPerSecond, kNamesAtOnce, now},
      kept_{kept} {
  const KeptUse before = kept_in(kept, now);
  requests_ = MinuteWindow{kUnlimited, before.requests};
  bytes_ = before.bytes;
  change(limits, now);
}

void EgressBudget::change(const policy::Limits& limits, Ticks now) {
  most_connections_ = limits.connections.value_or(kConnections);
  change_rate(out_, limits, now);
  change_rate(in_, limits, now);
  most_bytes_ = limits.egress;
  requests_.set_most(limits.requests_per_minute.value_or(kUnlimited));
}

void EgressBudget::keep_bytes() {
  if (kept_.empty()) return;
  std::memcpy(kept_.data() + offsetof(KeptUse, bytes), &bytes_, sizeof bytes_);
}

void EgressBudget::keep_requests() {
  if (kept_.empty()) return;
  const MinuteWindow::Used& used = requests_.used();
  std::memcpy(kept_.data() + offsetof(KeptUse, requests), &used, sizeof used);
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
  if (requests_.take(now)) {
    keep_requests();
    return std::nullopt;
  }
  return BudgetRefusal{BudgetKind::requests,
                       fmt::format("more than {} requests in a minute", requests_.most())};
}

std::optional<BudgetRefusal> EgressBudget::fresh_name(Ticks now) {
  if (names_.take(1, now)) return std::nullopt;
  return BudgetRefusal{BudgetKind::names,
                       fmt::format("more than {} new names in a short time", kNamesAtOnce)};
}

EgressBudget::Allowance EgressBudget::move(Direction direction, std::uint64_t wanted, Ticks now) {
  assert(wanted > 0);
  const bool counted = direction == Direction::out;
  if (counted && most_bytes_) {
    if (bytes_ >= *most_bytes_) {
      return {.spent = BudgetRefusal{BudgetKind::bytes,
                                     fmt::format("more than {} bytes sent", *most_bytes_)}};
    }
    wanted = std::min(wanted, *most_bytes_ - bytes_);
  }
  Allowance allowance{.bytes = wanted};
  if (auto& bucket = rate(direction)) {
    allowance.bytes = bucket->take_some(wanted, now);
    // Not byte by byte: as soon as a packet's worth is there.
    constexpr std::uint64_t kWorthWhile = 1400;
    if (allowance.bytes == 0) allowance.wait = bucket->wait_for(std::min(wanted, kWorthWhile), now);
  }
  if (counted && allowance.bytes > 0) {
    bytes_ += allowance.bytes;
    keep_bytes();
    if (when_sent_) when_sent_();
  }
  return allowance;
}

}  // namespace cordon::egress
