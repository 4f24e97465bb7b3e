// SPDX-License-Identifier: Apache-2.0
// Refusals as they are recorded: each by itself, and where there are too many of them in a second,
// those of one code as one with a count. Whoever is inside chooses how many there are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "node/per_second.h"
#include "record/denial.h"

namespace cordon::node {

class RefusalTally {
 public:
  // Of one second, each by itself; where the caller says no other number.
  static constexpr std::size_t kEach = 100;
  // Codes that are told apart in one second; behind them all others are one.
  static constexpr std::size_t kKinds = 16;

  explicit RefusalTally(std::size_t each = kEach) noexcept : most_{each}, each_{each} {}

  // What is to be written now: of an earlier second what was counted, then this one if there is
  // room. None: it is counted.
  std::vector<Denial> take(const Denial& denial, Ticks now);
  // What was counted and not written.
  std::vector<Denial> flush();
  bool is_empty() const noexcept { return counted_.empty(); }

 private:
  std::size_t most_;
  PerSecond each_;
  std::map<std::string, std::uint64_t> counted_;  // by code
};

}  // namespace cordon::node
