// SPDX-License-Identifier: Apache-2.0
// What steering adds to a new network namespace: bare ones and steered ones in turns. Needs root.
// Prints one line of JSON.
//
//   bench_steering TIMES
#include "os/steering.h"

#include <cstdio>
#include <sched.h>
#include <string>
#include <vector>

#include "harness/harness.h"

int main(int argc, char** argv) {
  using namespace cordon;
  const int times = argc > 1 ? std::stoi(argv[1]) : 200;
  std::vector<double> bare;
  std::vector<double> steered;
  bool failed = false;
  for (int turn = 0; turn <= times; ++turn) {
    const double one = bench::time_ns([&] { failed |= ::unshare(CLONE_NEWNET) != 0; }) / 1e3;
    const double other = bench::time_ns([&] {
                           failed |= ::unshare(CLONE_NEWNET) != 0;
                           failed |= !os::steer_own_network();
                         }) /
                         1e3;
    if (failed) {
      std::puts("no namespace could be made, or steered: root is needed");
      return 1;
    }
    if (turn == 0) continue;  // caches are cold
    bare.push_back(one);
    steered.push_back(other);
  }
  const bench::Spread without = bench::spread_of(bare);
  const bench::Spread with = bench::spread_of(steered);
  std::printf(
      "{\"bare_min_us\": %.1f, \"bare_p50_us\": %.1f, \"steered_min_us\": %.1f, "
      "\"steered_p50_us\": %.1f}\n",
      without.min, without.p50, with.min, with.p50);
  return 0;
}
