// SPDX-License-Identifier: Apache-2.0
// A fleet of 1,200 nodes and a million sandboxes in simulated time, calm and in trouble: the code
// that chooses nodes, believes them and divides quotas is the real one. `--plots DIRECTORY` draws,
// `--only NAME` runs one scenario, or `sweeps`.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "harness/harness.h"
#include "simulation/chart.h"
#include "simulation/memory.h"
#include "simulation/scenario.h"
#include "simulation/world.h"

namespace {

using namespace cordon;
using namespace cordon::simulation;

double per_million(std::uint64_t some, const Tally& tally) {
  return static_cast<double>(some) / static_cast<double>(tally.counts.creates) * 1e6;
}

Tally run(const Scenario& scenario) { return World{scenario}.run(); }

// Over all scenarios: what must never be.
struct Worst {
  double overshoot = 0;
  double declared_alive = 0;
  double placed_on_dead = 0;
  double etcd_writes = 0;
};

void add(bench::Report& report, const std::string& name, const Tally& tally, Worst& worst) {
  const auto figure = [&](std::string_view what, double value, std::string unit) {
    report.add(fmt::format("{}_{}", name, what), value, std::move(unit));
  };
  figure("use", average_use(tally) * 100, "% of the slots");
  figure("full", full_per_million(tally), "per million creates");
  figure("silent", per_million(tally.counts.silent, tally), "per million creates");
  figure("failed", per_million(tally.counts.failed, tally), "per million creates");
  figure("refused_early", per_million(tally.counts.refused_early, tally), "per million creates");
  figure("peak", static_cast<double>(tally.most_creates_of_node), "creates of a node in a second");
  figure("etcd_writes", writes_per_second(tally), "a second");
  figure("etcd_writes_peak", most_writes(tally), "in a second");
  figure("ledger_writes", ledger_writes_per_second(tally), "a second");
  figure("overshoot", static_cast<double>(tally.overshoot), "sandboxes");
  figure("declared_dead", static_cast<double>(tally.declared_dead), "by all gateways");
  figure("declared_alive", static_cast<double>(tally.declared_alive), "of these");
  figure("known_after", std::chrono::duration<double>(tally.longest_unknown).count(), "s");
  worst.overshoot = std::max(worst.overshoot, static_cast<double>(tally.overshoot));
  worst.declared_alive += static_cast<double>(tally.declared_alive);
  worst.placed_on_dead += static_cast<double>(tally.placed_on_dead);
  worst.etcd_writes = std::max(worst.etcd_writes, writes_per_second(tally));
}

// A gateway's memory with a million sandboxes in the fleet, and with none.
void add_memory(bench::Report& report, const Scenario& calm, World& after) {
  constexpr std::size_t kRevocations = 1'000'000;
  constexpr std::size_t kTenants = 10'000;
  constexpr std::size_t kPolicy = 4096;
  Scenario empty = calm;
  empty.begins_with = 0;
  empty.creates_per_second = 0;
  empty.length = empty.warm_up + Millis{2000};
  World none{empty};
  (void)none.run();
  const std::size_t roster = heap_of(after.gateways().front().take_roster());
  const std::size_t roster_of_none = heap_of(none.gateways().front().take_roster());
  const std::size_t revocations = heap_of_revocations(kRevocations);
  const std::size_t policies = heap_of_policies(kTenants, kPolicy);
  const std::size_t tls = kTlsToNode * calm.size.nodes();
  const auto megabytes = [](std::size_t bytes) { return static_cast<double>(bytes) / 1e6; };
  report.add("gateway_roster", static_cast<double>(roster) / 1024, "KiB");
  report.add("gateway_growth",
             (static_cast<double>(roster) - static_cast<double>(roster_of_none)) / 1024,
             "KiB for a million sandboxes");
  report.add("gateway_revocations", megabytes(revocations), "MB");
  report.add("gateway_revocations_with_tenants",
             megabytes(heap_of_revocations_with_tenants(kRevocations)), "MB");
  report.add("gateway_policies", megabytes(policies), "MB");
  report.add("gateway_on_paper", megabytes(tls + kEmptyGateway), "MB");
  report.add("gateway_memory", megabytes(roster + revocations + policies + tls + kEmptyGateway),
             "MB");
}

void draw_to(const std::string& directory, std::string_view name, const Chart& chart) {
  if (directory.empty()) return;
  std::ofstream{fmt::format("{}/fleet-{}.svg", directory, name)} << draw(chart);
}

// How many are turned away, by how full the fleet is.
void add_sweeps(bench::Report& report, const std::string& plots) {
  Chart chart{.title = "Turned away by a full node, per million creates (10,000 creates/s)",
              .across = "per cent of the slots in use",
              .is_logarithmic = true};
  for (const Sweep& sweep : sweeps()) {
    Line& line = chart.lines.emplace_back(Line{.name = sweep.name});
    std::ranges::replace(line.name, '_', ' ');
    for (const Scenario& one : sweep.runs) {
      const Tally tally = run(one);
      line.points.emplace_back(average_use(tally) * 100, full_per_million(tally));
    }
    report.add(sweep.name + "_full", line.points.back().second, "per million creates, fullest");
  }
  draw_to(plots, "full", chart);
}

// A cell whose leases are all gone for a minute, with the guard and without.
void add_guard(bench::Report& report, const std::string& plots, const Scenario& scenario,
               const Tally& guarded) {
  const Trouble& trouble = scenario.troubles.front();
  Scenario naive = scenario;
  naive.arm.rules.window = std::chrono::seconds{-1};
  const Tally unguarded = run(naive);
  report.add("leases_lost_made", made_during(guarded, trouble), "a second in that cell");
  report.add("leases_lost_made_unguarded", made_during(unguarded, trouble),
             "a second in that cell");
  draw_to(plots, "leases",
          {.title = "Creates a second in a cell whose etcd loses all leases from 15 to 75 s",
           .across = "seconds",
           .lines = {made_in(guarded, trouble.cell, "as it is"),
                     made_in(unguarded, trouble.cell, "without the guard")}});
}

// A tenant at its limit, with the ledger and with what was read of the sum two seconds ago.
void add_quota(bench::Report& report, const std::string& plots, const Scenario& scenario,
               const Tally& tally) {
  Scenario naive = scenario;
  naive.arm.quota = Arm::Quota::last_sum;
  const Tally guessed = run(naive);
  report.add("last_sum_overshoot", static_cast<double>(guessed.overshoot), "sandboxes");
  draw_to(
      plots, "quota",
      {.title = "A tenant at its limit, per cent of its quota; one cell cut off from 15 to 105 s",
       .across = "seconds",
       .lines = {watched(tally, "as it is"), watched(guessed, "by the sum of two seconds ago")},
       .floor = 75});
}

}  // namespace

int main(int argc, char** argv) {
  std::string only;
  std::string plots;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if ((flag == "--only" || flag == "--plots") && i + 1 < argc) {
      (flag == "--only" ? only : plots) = argv[++i];
    } else {
      rest.push_back(argv[i]);
    }
  }
  bench::Report report{"fleet_simulation", static_cast<int>(rest.size()), rest.data()};
  Worst worst;
  for (const Scenario& scenario : scenarios()) {
    if (!only.empty() && scenario.name != only) continue;
    World world{scenario};
    const Tally tally = world.run();
    add(report, scenario.name, tally, worst);
    if (scenario.name == "calm_10k") {
      report.add("sandboxes", static_cast<double>(world.sandboxes()), "");
      add_memory(report, scenario, world);
    }
    if (scenario.name == "leases_lost") add_guard(report, plots, scenario, tally);
    if (scenario.name == "cell_cut_from_quotas") add_quota(report, plots, scenario, tally);
  }
  if (only.empty() || only == "sweeps") add_sweeps(report, plots);
  report.add("overshoot", worst.overshoot, "sandboxes, in any scenario");
  report.add("declared_alive", worst.declared_alive, "in all scenarios");
  report.add("placed_on_dead", worst.placed_on_dead, "in all scenarios");
  report.add("etcd_writes", worst.etcd_writes, "a second, of the busiest cell of any scenario");
  return report.finish();
}
