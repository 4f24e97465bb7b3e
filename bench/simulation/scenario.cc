// SPDX-License-Identifier: Apache-2.0
#include "simulation/scenario.h"

namespace cordon::simulation {
namespace {

using Kind = Trouble::Kind;

constexpr Millis seconds(int count) { return std::chrono::seconds{count}; }

// A little more than 97 of 100, so that it is not less at any time: what a tenant's quota lets lie
// in some cell is not used.
constexpr double kAlmostFull = 0.98;

std::vector<Trouble> everywhere(Trouble trouble) {
  std::vector<Trouble> all(Size{}.cells, trouble);
  for (std::uint16_t cell = 0; cell < all.size(); ++cell) all[cell].cell = cell;
  return all;
}

Scenario disturbed(std::string name, int length, std::vector<Trouble> troubles) {
  return {.name = std::move(name),
          .use = kAlmostFull,
          .length = seconds(length),
          .troubles = std::move(troubles)};
}

Trouble trouble(Kind kind, int from, int until, std::uint16_t cell, std::uint32_t nodes = 0) {
  return {
      .kind = kind, .from = seconds(from), .until = seconds(until), .cell = cell, .nodes = nodes};
}

}  // namespace

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  all.push_back(disturbed("calm_10k", 90, {}));
  all.push_back(disturbed("calm_100k", 40, {}));
  all.back().creates_per_second = 100'000;
  // From half to full: every node has news each time that it looks.
  all.push_back(disturbed("filling", 60, {}));
  all.back().begins_with = 0.5;
  // Gauges come with answers alone.
  all.push_back(
      disturbed("watches_stall", 90, everywhere(trouble(Kind::watches_stall, 15, 80, 0))));
  // Few of two cells, and of a third so many that its leases are not believed.
  all.push_back(
      disturbed("nodes_die", 100,
                {trouble(Kind::nodes_die, 15, 80, 0, 3), trouble(Kind::nodes_die, 20, 85, 1, 3),
                 trouble(Kind::nodes_die, 25, 90, 2, 8)}));
  all.back().use = 0.965;  // of those that are left it is as much
  all.push_back(disturbed("leases_lost", 90, {trouble(Kind::leases_lost, 15, 75, 3)}));
  all.push_back(disturbed("etcd_away", 90, {trouble(Kind::etcd_away, 15, 75, 3)}));
  all.push_back(
      disturbed("nodes_cut_from_etcd", 90, {trouble(Kind::cut_from_etcd, 15, 75, 4, 60)}));
  // While nothing but their answers speaks for its nodes.
  all.push_back(disturbed(
      "gateway_cut_off", 120,
      {trouble(Kind::leases_lost, 15, 100, 2), trouble(Kind::cut_from_gateway, 15, 75, 2, 90)}));
  all.push_back(
      disturbed("cell_cut_from_quotas", 120, {trouble(Kind::cut_from_quotas, 15, 105, 5)}));
  // What the cell may not take, the others must have room for.
  all.back().use = 0.9;
  return all;
}

std::vector<Sweep> sweeps() {
  const Arm as_it_is;
  const Arm untold{.piggybacks = false};
  const Arm best_of_all{.choice = Arm::Choice::least_loaded};
  std::vector<Sweep> all;
  for (const auto& [name, arm] : {std::pair{"as_it_is", as_it_is},
                                  {"without_gauges_in_answers", untold},
                                  {"least_loaded_of_all", best_of_all}}) {
    Sweep& sweep = all.emplace_back(Sweep{.name = name});
    for (const double use : {0.90, 0.94, 0.96, 0.98}) {
      sweep.runs.push_back({.name = name, .use = use, .length = seconds(25), .arm = arm});
    }
  }
  return all;
}

Scenario small_scenario() {
  return {.name = "small",
          .creates_per_second = 250,
          .use = 0.93,
          .length = seconds(20),
          .warm_up = seconds(2),
          .size = {.cells = 2, .nodes_of_cell = 30, .slots = 200, .gateways = 3, .tenants = 20}};
}

}  // namespace cordon::simulation
