// SPDX-License-Identifier: Apache-2.0
// What is counted in a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulation/chart.h"
#include "simulation/scenario.h"
#include "simulation/wheel.h"

namespace cordon::simulation {

struct Counts {
  std::uint64_t creates = 0;  // asked for
  std::uint64_t made = 0;
  std::uint64_t full = 0;           // attempts that a node turned away for want of room
  std::uint64_t silent = 0;         // attempts that nobody answered
  std::uint64_t refused = 0;        // for their tenant's quota
  std::uint64_t refused_early = 0;  // although more than one in fifty of it was free
  std::uint64_t failed = 0;         // for any other reason
};

struct Second {
  Counts counts;
  std::uint64_t sandboxes = 0;
  double use = 0;                          // of the slots of nodes that live
  std::vector<std::uint64_t> made_in;      // by cell, as are:
  std::vector<std::uint64_t> etcd_writes;  // to its etcd
  std::uint64_t ledger_writes = 0;         // to the etcd of all cells
  double watched = 0;                      // what the largest tenant at its limit has of its quota
};

struct Tally {
  Counts counts;                           // after the warm-up, as is the next
  std::uint64_t most_creates_of_node = 0;  // in one second

  std::int64_t overshoot = 0;        // the most that any tenant had beyond its quota, at any moment
  std::uint64_t declared_dead = 0;   // by all gateways
  std::uint64_t declared_alive = 0;  // of these, nodes that lived
  std::uint64_t placed_on_dead = 0;  // chosen by a gateway that had declared it dead
  Millis longest_unknown{};          // from a death until the last gateway knew

  std::vector<Second> every;
  std::size_t warm_up = 0;  // so many of these
};

// After the warm-up. Of the etcd of the cell that writes most, on average, and in its worst second.
double writes_per_second(const Tally& tally);
double most_writes(const Tally& tally);
double ledger_writes_per_second(const Tally& tally);
double average_use(const Tally& tally);
// In a million creates, attempts that a node turned away for want of room.
double full_per_million(const Tally& tally);
// Creates a second in the cell of the trouble, while it lasts.
double made_during(const Tally& tally, const Trouble& trouble);

// By second.
Line made_in(const Tally& tally, std::uint16_t cell, std::string name);
Line watched(const Tally& tally, std::string name);

}  // namespace cordon::simulation
