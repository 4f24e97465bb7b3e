// SPDX-License-Identifier: Apache-2.0
// A gateway: the real roster, asked and told as a gateway does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "etcd/values.h"
#include "fleet/roster.h"
#include "simulation/scenario.h"
#include "simulation/wheel.h"

namespace cordon::simulation {

class Gateway {
 public:
  Gateway(const Arm& arm, std::uint32_t seed);

  void took(std::uint16_t cell, std::span<const etcd::Event> events, Millis now);
  std::optional<fleet::NodeId> choose(std::string_view image,
                                      std::span<const fleet::NodeId> without);
  void began(fleet::NodeId node) { roster_.began(node); }
  void ended(fleet::NodeId node) { roster_.ended(node); }
  void answered(fleet::NodeId node, const fleet::Gauge& gauge, Millis now);
  void unanswered(fleet::NodeId node, Millis now);
  std::vector<fleet::NodeId> tick(Millis now) { return roster_.tick(ticks_at(now)); }
  // Those that neither answered for a while nor were asked: a request of their own tells how they
  // are. To be asked now.
  std::vector<fleet::NodeId> to_probe(Millis now);

  const fleet::Roster& roster() const noexcept { return roster_; }
  // At the end.
  fleet::Roster take_roster() { return std::move(roster_); }

 private:
  std::optional<fleet::NodeId> least_loaded(std::span<const fleet::NodeId> without) const;

  Arm arm_;
  fleet::Roster roster_;
  std::unordered_map<fleet::NodeId, Millis> asked_;
  std::vector<std::pair<fleet::NodeId, std::uint32_t>> told_;  // free slots, for least_loaded alone
};

}  // namespace cordon::simulation
