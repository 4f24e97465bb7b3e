// SPDX-License-Identifier: Apache-2.0
#include "simulation/tally.h"

#include <algorithm>
#include <span>
#include <utility>

namespace cordon::simulation {
namespace {

std::span<const Second> counted(const Tally& tally) {
  return std::span{tally.every}.subspan(tally.warm_up);
}

template <class Number>
double average(std::span<const Second> seconds, Number number) {
  double sum = 0;
  for (const Second& one : seconds) sum += static_cast<double>(number(one));
  return sum / static_cast<double>(seconds.size());
}

template <class Number>
Line line(const Tally& tally, std::string name, Number number) {
  Line line{.name = std::move(name)};
  for (std::size_t i = 1; i < tally.every.size(); ++i) {
    line.points.emplace_back(i, static_cast<double>(number(tally.every[i])));
  }
  return line;
}

}  // namespace

double writes_per_second(const Tally& tally) {
  double most = 0;
  for (std::size_t cell = 0; cell < tally.every.front().etcd_writes.size(); ++cell) {
    most = std::max(
        most, average(counted(tally), [&](const Second& one) { return one.etcd_writes[cell]; }));
  }
  return most;
}

double most_writes(const Tally& tally) {
  std::uint64_t most = 0;
  for (const Second& one : counted(tally)) {
    most = std::max(most, *std::ranges::max_element(one.etcd_writes));
  }
  return static_cast<double>(most);
}

double ledger_writes_per_second(const Tally& tally) {
  return average(counted(tally), [](const Second& one) { return one.ledger_writes; });
}

double average_use(const Tally& tally) {
  return average(counted(tally), [](const Second& one) { return one.use; });
}

double full_per_million(const Tally& tally) {
  return static_cast<double>(tally.counts.full) / static_cast<double>(tally.counts.creates) * 1e6;
}

double made_during(const Tally& tally, const Trouble& trouble) {
  const auto from = static_cast<std::size_t>(trouble.from / std::chrono::seconds{1});
  const auto until = static_cast<std::size_t>(trouble.until / std::chrono::seconds{1});
  return average(std::span{tally.every}.subspan(from + 1, until - from - 1),
                 [&](const Second& one) { return one.made_in[trouble.cell]; });
}

Line made_in(const Tally& tally, std::uint16_t cell, std::string name) {
  return line(tally, std::move(name), [&](const Second& one) { return one.made_in[cell]; });
}

Line watched(const Tally& tally, std::string name) {
  return line(tally, std::move(name), [](const Second& one) { return one.watched * 100; });
}

}  // namespace cordon::simulation
