// SPDX-License-Identifier: Apache-2.0
// What all benchmarks share: figures in a table for people, in JSON for programs, and held against
// their promises.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::bench {

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
};

// Minimum, median and 99th percentile of `samples`, which it sorts.
struct Spread {
  double min = 0;
  double p50 = 0;
  double p99 = 0;
};
Spread spread_of(std::vector<double>& samples);

// Collects figures; `finish` prints them. `--json FILE` writes them too; `--check` holds each
// against bench/promises.toml and returns non-zero when one is broken or has no figure; its
// one-line summary comes last.
class Report {
 public:
  Report(std::string bench, int argc, char** argv);
  void add(std::string name, double value, std::string unit);
  int finish() const;

 private:
  int check() const;
  std::string bench_;
  std::string json_file_;
  bool check_ = false;
  bool usable_ = true;
  std::vector<Figure> figures_;
};

// Nanoseconds that `work` takes.
template <class F>
double time_ns(F&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace cordon::bench
