// SPDX-License-Identifier: Apache-2.0
// How much one sandbox may use of the network: connections at once, requests and new names over
// time, bytes over time and in all.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/minute_window.h"
#include "egress/token_bucket.h"
#include "policy/decision.h"

namespace cordon::egress {

enum class Direction : std::uint8_t { out, in };

enum class BudgetKind : std::uint8_t { connections, requests, names, bytes };

struct BudgetRefusal {
  BudgetKind kind = BudgetKind::connections;
  std::string why;  // "more than 600 requests in a minute"

  friend bool operator==(const BudgetRefusal&, const BudgetRefusal&) = default;
};

class EgressBudget {
 public:
  // Where the policy says no number: each connection costs memory of ours.
  static constexpr std::uint64_t kConnections = 256;
  // Names under a wildcard carry what their asker writes into them: enough for a browser's page,
  // then one a second.
  static constexpr std::uint64_t kNamesAtOnce = 256;
  static constexpr double kNamesPerSecond = 1;

  // Bytes sent and the requests of the last minute, as they are written to memory that outlives us:
  // before anything is sent, so that a successor never counts less than was sent.
  static constexpr std::size_t kKeptSize = 512;

  // `kept`: such memory, zeros or what a predecessor left; as long as this lives. Empty: none.
  EgressBudget(const policy::Limits& limits, Ticks now, std::span<std::byte> kept = {});

  // Other limits from now on. What was used stays used.
  void change(const policy::Limits& limits, Ticks now);

  // Nothing: it is opened, and counts until close_connection().
  std::optional<BudgetRefusal> open_connection();
  void close_connection();
  std::uint64_t connections() const noexcept { return open_; }
  // How many are open that a narrower limit has no room for.
  std::uint64_t over_connections() const noexcept {
    return open_ > most_connections_ ? open_ - most_connections_ : 0;
  }

  std::optional<BudgetRefusal> request(Ticks now);
  // A name under a wildcard that was not asked for before.
  std::optional<BudgetRefusal> fresh_name(Ticks now);

  // Bytes that may be moved now. None: ask again after `wait`, or, where `spent` is set, never
  // again.
  struct Allowance {
    std::uint64_t bytes = 0;
    std::chrono::nanoseconds wait{0};
    std::optional<BudgetRefusal> spent;
  };
  std::uint64_t sent() const noexcept { return bytes_; }
  // Called when something is counted as sent.
  void when_sent(std::function<void()> act) { when_sent_ = std::move(act); }

  // Of `wanted` (not 0) bytes; what is allowed is counted as moved.
  Allowance move(Direction direction, std::uint64_t wanted, Ticks now);

 private:
  std::optional<TokenBucket>& rate(Direction direction) {
    return direction == Direction::out ? out_ : in_;
  }

  std::uint64_t most_connections_;
  std::uint64_t open_ = 0;
  void keep_bytes();
  void keep_requests();

  MinuteWindow requests_;
  TokenBucket names_;
  std::optional<TokenBucket> out_, in_;
  std::optional<std::uint64_t> most_bytes_;  // out, in all
  std::uint64_t bytes_ = 0;                  // out, so far
  std::span<std::byte> kept_;
  std::function<void()> when_sent_;
};

}  // namespace cordon::egress
