// SPDX-License-Identifier: Apache-2.0
// What is simulated: a fleet, what is asked of it, and what goes wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/members.h"
#include "simulation/wheel.h"

namespace cordon::simulation {

// 1,200 nodes whose slots are 97 % full with a million sandboxes.
struct Size {
  std::uint16_t cells = 8;
  std::uint32_t nodes_of_cell = 150;
  std::uint32_t slots = 860;
  std::uint16_t gateways = 20;
  std::uint16_t tenants = 200;
  std::uint32_t nodes() const { return std::uint32_t{cells} * nodes_of_cell; }
  double all_slots() const { return static_cast<double>(nodes()) * slots; }
};

struct Trouble {
  enum class Kind : std::uint8_t {
    nodes_die,         // and what they had; at the end they start anew
    leases_lost,       // etcd drops every lease of the cell at once, and grants none until the end
    etcd_away,         // no quorum: nothing is written, no lease runs out
    watches_stall,     // gateways hear of changes in the cell only at the end
    cut_from_etcd,     // nodes, from the etcd of their cell
    cut_from_gateway,  // nodes, from one gateway
    cut_from_quotas,   // the cell's index, from the etcd of all cells
  };
  Kind kind = Kind::nodes_die;
  Millis from{};
  Millis until{};
  std::uint16_t cell = 0;
  std::uint32_t nodes = 0;  // so many of the cell, from its first on
  std::uint16_t gateway = 0;
};

// The code as it is, and what is done in its place to see that a check can fail.
struct Arm {
  enum class Choice : std::uint8_t { placement, least_loaded };
  enum class Quota : std::uint8_t { ledger, last_sum };
  Choice choice = Choice::placement;  // least_loaded: of all, by what the watches said
  bool piggybacks = true;             // a node's answer carries its gauge
  bool asks_the_full = true;          // every second, not only after five
  Quota quota = Quota::ledger;        // last_sum: as long as the sum that was read last allows
  fleet::Members::Rules rules;
};

struct Scenario {
  std::string name;
  double creates_per_second = 10'000;
  double use = 0.97;       // of all slots; lives are as long as that takes
  double begins_with = 1;  // of that use
  Millis length{60'000};
  Millis warm_up{10'000};  // not counted: what was there at the beginning was spread by hand
  std::vector<Trouble> troubles;
  Size size;
  Arm arm;
  std::uint32_t seed = 1;
};

// Those that docs/fleet.md has figures of.
std::vector<Scenario> scenarios();
// The code as it is, and what could stand in its place, over a range of use.
struct Sweep {
  std::string name;
  std::vector<Scenario> runs;
};
std::vector<Sweep> sweeps();
// A small fleet of two cells for tests.
Scenario small_scenario();

}  // namespace cordon::simulation
