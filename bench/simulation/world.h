// SPDX-License-Identifier: Apache-2.0
// A fleet in simulated time: nodes, etcds and the network between them are models; choosing nodes,
// believing them, and dividing quotas is the real code.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simulation/chance.h"
#include "simulation/cuts.h"
#include "simulation/gateway.h"
#include "simulation/node.h"
#include "simulation/quotas.h"
#include "simulation/registry.h"
#include "simulation/scenario.h"
#include "simulation/tally.h"
#include "simulation/tenants.h"
#include "simulation/wheel.h"

namespace cordon::simulation {

class World {
 public:
  explicit World(Scenario scenario);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Once.
  Tally run();

  // Afterwards.
  std::vector<Gateway>& gateways() noexcept { return gateways_; }
  std::uint64_t sandboxes() const noexcept { return sandboxes_; }

 private:
  static constexpr std::size_t kAttempts = 4;
  static constexpr std::size_t kCells = 3;  // that are asked for a unit of the quota

  // What a gateway was asked for, on its way.
  struct Create {
    std::uint16_t gateway = 0;
    std::uint16_t tenant = 0;
    std::uint16_t image = 0;
    std::uint16_t attempts = 0;
    std::uint16_t cells_without = 0;  // a bit for each that had no unit left
    std::array<fleet::NodeId, kAttempts> tried{};
  };
  enum class Said : std::uint8_t { made, full, no_quota, nothing };
  struct Answer {
    Create create;
    std::size_t node = 0;
    Said said = Said::nothing;
    fleet::Gauge gauge;
  };
  struct End {
    std::uint32_t node = 0;
    std::uint32_t epoch = 0;
    std::uint16_t tenant = 0;
  };
  struct Probe {
    std::uint16_t gateway = 0;
    std::size_t node = 0;
  };
  struct Loss {  // of a dead node: its units come back
    std::uint16_t cell = 0;
    std::uint16_t tenant = 0;
    std::uint32_t count = 0;
  };

  void fill();
  void step();
  void change_nodes();
  void die(std::size_t node);
  void ask_new();
  void place(Create create);
  std::optional<fleet::NodeId> choose(const Create& create);
  void arrive(Answer answer);
  void answered(const Answer& answer);
  void begin_at(std::size_t node, std::uint16_t tenant);
  void probe(const Probe& probe);
  void tick(std::uint16_t gateway);
  void confer();
  void count_second();
  bool reaches(std::uint16_t gateway, std::size_t node) const;
  bool has_room(std::uint16_t tenant) const;
  std::size_t index_of(fleet::NodeId node) const {
    return std::size_t{node.cell} * scenario_.size.nodes_of_cell + node.node;
  }
  // Counts in the second, and after the warm-up in all.
  void count(std::uint64_t Counts::* what) {
    ++(second_.counts.*what);
    if (now_ >= scenario_.warm_up) ++(tally_.counts.*what);
  }

  Scenario scenario_;
  Chance chance_;
  Cuts cuts_;
  std::vector<Tenant> tenants_;
  Lots lots_;
  double mean_life_ms_ = 0;
  std::vector<std::string> images_;
  std::vector<Node> nodes_;
  std::vector<Gateway> gateways_;
  Quotas quotas_;
  Registry registry_;
  std::vector<std::int64_t> running_;  // by tenant: what there really is
  std::uint64_t sandboxes_ = 0;
  Millis now_{};

  Wheel<Answer> arrivals_;
  Wheel<Answer> answers_;
  Wheel<End> ends_;
  Wheel<Probe> probes_;
  Wheel<Loss> losses_;
  Wheel<Quotas::Asked> asked_;
  Wheel<Quotas::Answered> heard_;
  std::vector<std::optional<Millis>> died_at_;
  std::vector<std::uint64_t> creates_of_node_;  // in this second
  std::vector<std::uint64_t> writes_before_;    // by cell: until this second
  std::uint64_t ledger_writes_ = 0;             // so too
  Second second_;
  Tally tally_;
};

}  // namespace cordon::simulation
