// SPDX-License-Identifier: Apache-2.0
// Control groups taken from the pool against groups made when they are wanted, side by side: in a
// tight loop, and with the gaps that a quiet host has. Needs root.
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <unistd.h>
#include <vector>

#include "harness/harness.h"
#include "launcher/group_pool.h"

namespace cordon::bench {
namespace {

constexpr double kMicrosecond = 1e3;

frame::LaunchPlan plan() {
  frame::LaunchPlan plan;
  plan.id = "abcd2345";
  plan.groups = true;
  plan.limits = {.memory = 64U << 20U, .pids = 64, .milli_cpus = 1000};
  return plan;
}

// Microseconds until the groups stand with their limits; their removal is not counted.
double take_from(launcher::GroupPool& pool, const frame::LaunchPlan& plan, bool& failed) {
  std::optional<launcher::SandboxGroups> groups;
  const double took = time_ns([&] {
    auto taken = pool.take(plan);
    failed = failed || !taken;
    if (taken) groups.emplace(*std::move(taken));
  });
  return took / kMicrosecond;
}

int run(int argc, char** argv) {
  auto trees = os::read_cgroup_trees();
  if (!trees) return 1;
  const auto held =
      std::make_shared<const launcher::GroupTrees>(launcher::GroupTrees::open(*trees));
  launcher::GroupPool ahead{held, 4};
  launcher::GroupPool none{held, 0};
  const frame::LaunchPlan wanted = plan();
  Report report{"groups", argc, argv};
  bool failed = false;
  struct Mode {
    const char* name;
    int rounds;
    std::chrono::milliseconds gap;
  };
  for (const Mode& mode :
       {Mode{"tight", 500, {}}, Mode{"after_30_ms", 100, std::chrono::milliseconds{30}}}) {
    std::vector<double> pooled;
    std::vector<double> fresh;
    for (int round = 0; round < mode.rounds; ++round) {
      while (ahead.wants_more()) ahead.refill();
      std::this_thread::sleep_for(mode.gap);
      pooled.push_back(take_from(ahead, wanted, failed));
      std::this_thread::sleep_for(mode.gap);
      fresh.push_back(take_from(none, wanted, failed));
    }
    const Spread of_pool = spread_of(pooled);
    const Spread of_fresh = spread_of(fresh);
    const std::string name = mode.name;
    report.add("pooled_" + name + "_min_us", of_pool.min, "us");
    report.add("pooled_" + name + "_p50_us", of_pool.p50, "us");
    report.add("fresh_" + name + "_min_us", of_fresh.min, "us");
    report.add("fresh_" + name + "_p50_us", of_fresh.p50, "us");
    report.add("pooled_to_fresh_" + name, of_pool.p50 / of_fresh.p50, "");
  }
  if (failed) std::puts("some groups could not be made: the figures say nothing");
  return failed ? 1 : report.finish();
}

}  // namespace
}  // namespace cordon::bench

int main(int argc, char** argv) {
  if (::geteuid() != 0) {
    std::puts("not root: skipped");
    return 0;
  }
  return cordon::bench::run(argc, argv);
}
