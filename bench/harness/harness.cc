// SPDX-License-Identifier: Apache-2.0
#include "harness/harness.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "policy/value.h"

namespace cordon::bench {
namespace {

double number_of(const policy::Value& value) {
  if (value.integer() != nullptr) return static_cast<double>(*value.integer());
  return value.number() != nullptr ? *value.number() : 0;
}

// `NAME = { most = 1000, margin = 3, why = "…" }`: broken past most × margin; `least` likewise,
// below least / margin.
struct Promise {
  std::string name;
  std::optional<double> most;
  std::optional<double> least;
};

Promise promise_of(const policy::Entry& entry) {
  Promise promise{.name = entry.key};
  const policy::Value* const margin = entry.value.find("margin");
  const double slack = margin == nullptr ? 1 : number_of(*margin);
  if (const auto* const most = entry.value.find("most")) promise.most = number_of(*most) * slack;
  if (const auto* const least = entry.value.find("least"))
    promise.least = number_of(*least) / slack;
  return promise;
}

}  // namespace

Spread spread_of(std::vector<double>& samples) {
  std::ranges::sort(samples);
  return {samples.front(), samples[samples.size() / 2], samples[samples.size() * 99 / 100]};
}

Report::Report(std::string bench, int argc, char** argv) : bench_{std::move(bench)} {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--check") {
      check_ = true;
    } else if (flag == "--json" && i + 1 < argc) {
      json_file_ = argv[++i];
    } else {
      std::cerr << "usage: bench_" << bench_ << " [--json FILE] [--check]\n";
      usable_ = false;
    }
  }
}

void Report::add(std::string name, double value, std::string unit) {
  figures_.push_back({std::move(name), value, std::move(unit)});
}

int Report::finish() const {
  if (!usable_) return 2;
  for (const Figure& figure : figures_)
    std::cout << fmt::format("{:<36} {:>12.1f} {}\n", figure.name, figure.value, figure.unit);
  if (!json_file_.empty()) {
    std::ofstream file{json_file_};
    file << fmt::format("{{\"bench\":\"{}\",\"figures\":{{", bench_);
    std::string_view separator;
    for (const Figure& figure : figures_) {
      file << separator
           << fmt::format("\"{}\":{{\"value\":{},\"unit\":\"{}\"}}", figure.name, figure.value,
                          figure.unit);
      separator = ",";
    }
    file << "}}\n";
  }
  return check_ ? check() : 0;
}

int Report::check() const {
  std::ifstream file{CORDON_PROMISES};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  policy::Problems problems{"bench/promises.toml"};
  const auto tree = policy::read_toml(text, problems);
  if (!tree) {
    std::cout << tree.error().text() << '\n';
    return 2;
  }
  const policy::Value* const promised = tree->find(bench_);
  int kept = 0;
  int broken = 0;
  for (const policy::Entry& entry :
       promised == nullptr ? policy::Value::Table{} : *promised->table()) {
    const Promise promise = promise_of(entry);
    const auto figure = std::ranges::find(figures_, promise.name, &Figure::name);
    const bool holds = figure != figures_.end() &&
                       (!promise.most || figure->value <= *promise.most) &&
                       (!promise.least || figure->value >= *promise.least);
    holds ? ++kept : ++broken;
    if (!holds) {
      std::cout << fmt::format("BROKEN {}: {}\n", promise.name,
                               figure == figures_.end()
                                   ? "not measured"
                                   : fmt::format("{:.1f} {}", figure->value, figure->unit));
    }
  }
  std::cout << fmt::format("bench {}: {} promises kept, {} broken\n", bench_, kept, broken);
  return broken == 0 && kept > 0 ? 0 : 1;
}

}  // namespace cordon::bench
