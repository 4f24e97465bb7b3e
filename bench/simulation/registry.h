// SPDX-License-Identifier: Apache-2.0
// How nodes stand in the etcd of their cell, by the rules of fleet::Registration, and when gateways
// hear of it.
#pragma once

#include <cstdint>
#include <vector>

#include "etcd/values.h"
#include "simulation/cell_etcd.h"
#include "simulation/chance.h"
#include "simulation/cuts.h"
#include "simulation/node.h"
#include "simulation/scenario.h"
#include "simulation/wheel.h"

namespace cordon::simulation {

class Registry {
 public:
  // All outlive it.
  Registry(const Scenario& scenario, std::vector<Node>& nodes, const Cuts& cuts, Chance& chance);

  // All nodes at once.
  void begin();
  // After a new start.
  void start(std::size_t node, Millis now);
  void run(Millis now);

  struct Told {
    std::uint16_t gateway = 0;
    std::uint16_t cell = 0;
    std::vector<etcd::Event> events;
  };
  std::vector<Told> take_told(Millis now) { return told_.take(now); }

  std::uint64_t writes(std::uint16_t cell) const { return etcds_[cell].writes(); }

 private:
  enum class Act : std::uint8_t { join, keep, look };
  struct Timer {
    std::size_t node = 0;
    std::uint32_t life = 0;  // of its lease: timers of an earlier one are over
    Act act = Act::join;
  };
  void join(std::size_t node, Millis now);
  void keep(std::size_t node, Millis now);
  void look(std::size_t node, Millis now);
  void after(Millis wait, std::size_t node, Act act, Millis now) {
    timers_.at(now + wait, {.node = node, .life = lives_[node], .act = act});
  }
  void change_etcds(Millis now);
  void tell(Millis now);
  CellEtcd& etcd_of(std::size_t node) { return etcds_[nodes_[node].id().cell]; }

  std::vector<Node>& nodes_;
  const Cuts& cuts_;
  Chance& chance_;
  std::uint16_t gateways_;
  std::vector<CellEtcd> etcds_;
  std::vector<std::vector<etcd::Event>> held_;  // by cell, not told yet
  std::vector<std::uint32_t> lives_;
  Wheel<Timer> timers_;
  Wheel<Told> told_;
};

}  // namespace cordon::simulation
