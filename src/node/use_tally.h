// SPDX-License-Identifier: Apache-2.0
// Uses of the network as they are recorded: each by itself, and where there are too many of them in
// a second, those that are alike as one with a count. Whoever is inside chooses how many there are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "node/per_second.h"
#include "record/audit_event.h"

namespace cordon::node {

class UseTally {
 public:
  // Of one second, each by itself.
  static constexpr std::size_t kEach = 200;
  // Hosts, ports and answers that are told apart in one second; behind them all others are one.
  static constexpr std::size_t kKinds = 256;

  // What is to be written now: of an earlier second what was counted, then this one if there is
  // room. None: it is counted.
  std::vector<NetworkUsed> take(NetworkUsed use, Ticks now);
  // What was counted and not written.
  std::vector<NetworkUsed> flush();
  bool is_empty() const noexcept { return counted_.empty(); }

 private:
  // Host, port, status, and whether it has ended.
  using Kind = std::tuple<std::string, std::uint16_t, std::uint32_t, bool>;

  PerSecond each_{kEach};
  std::map<Kind, NetworkUsed> counted_;
};

}  // namespace cordon::node
