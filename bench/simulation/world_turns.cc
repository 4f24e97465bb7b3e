// SPDX-License-Identifier: Apache-2.0
// What happens in a world by itself: deaths, probes, rounds of the quotas, and each second's count.
#include <algorithm>
#include <utility>

#include "simulation/world.h"

namespace cordon::simulation {

void World::change_nodes() {
  for (const Trouble& one : cuts_.all()) {
    if (one.kind != Trouble::Kind::nodes_die) continue;
    for (std::uint32_t i = 0; i < one.nodes; ++i) {
      const std::size_t node = index_of({.cell = one.cell, .node = i});
      if (one.from == now_) die(node);
      if (one.until != now_) continue;
      nodes_[node].start_anew();
      registry_.start(node, now_);
    }
  }
}

void World::die(std::size_t node) {
  constexpr Millis kGrace{30'000};  // then its cell's index counts what it had as gone
  died_at_[node] = now_;
  const std::vector<std::uint32_t> lost = nodes_[node].die();
  for (std::uint16_t tenant = 0; tenant < lost.size(); ++tenant) {
    if (lost[tenant] == 0) continue;
    running_[tenant] -= lost[tenant];
    sandboxes_ -= lost[tenant];
    losses_.at(now_ + kGrace,
               {.cell = nodes_[node].id().cell, .tenant = tenant, .count = lost[tenant]});
  }
}

void World::tick(std::uint16_t gateway) {
  constexpr Millis kTimeout{1000};
  Gateway& one = gateways_[gateway];
  for (const fleet::NodeId id : one.to_probe(now_)) {
    const std::size_t node = index_of(id);
    if (reaches(gateway, node)) {
      one.answered(id, nodes_[node].gauge(), now_);
    } else {
      probes_.at(now_ + kTimeout, {.gateway = gateway, .node = node});
    }
  }
  for (const fleet::NodeId id : one.tick(now_)) {
    const std::size_t node = index_of(id);
    ++tally_.declared_dead;
    if (nodes_[node].is_up()) {
      ++tally_.declared_alive;
    } else {
      tally_.longest_unknown =
          std::max(tally_.longest_unknown, now_ - died_at_[node].value_or(now_));
    }
  }
}

// Each cell about each tenant every two seconds. Of the messages some are lost, so that a cell does
// not know what became of its change.
void World::confer() {
  constexpr std::size_t kEvery = 2000;  // ms
  constexpr double kLost = 0.005;
  constexpr Millis kOneWay{3};
  const std::size_t pairs = std::size_t{scenario_.size.cells} * tenants_.size();
  for (auto at = static_cast<std::size_t>(now_.count()) % kEvery; at < pairs; at += kEvery) {
    const auto cell = static_cast<std::uint16_t>(at / tenants_.size());
    Quotas::Asked asked = quotas_.ask(cell, static_cast<std::uint16_t>(at % tenants_.size()), now_);
    const bool is_lost = chance_.of(kLost) || cuts_.is(Trouble::Kind::cut_from_quotas, cell, now_);
    if (!is_lost) asked_.at(now_ + kOneWay, std::move(asked));
  }
  for (const Quotas::Asked& asked : asked_.take(now_)) {
    Quotas::Answered answer = quotas_.serve(asked);
    const bool is_lost =
        chance_.of(kLost) || cuts_.is(Trouble::Kind::cut_from_quotas, asked.cell, now_);
    if (!is_lost) heard_.at(now_ + kOneWay, std::move(answer));
  }
  for (const Quotas::Answered& answer : heard_.take(now_)) quotas_.hear(answer);
}

void World::count_second() {
  // The largest of those at their limit.
  const std::size_t at_its_limit = std::min<std::size_t>(5, running_.size() - 1);
  double slots = 0;
  for (const Node& node : nodes_) slots += node.is_up() ? scenario_.size.slots : 0;
  second_.sandboxes = sandboxes_;
  second_.use = static_cast<double>(sandboxes_) / slots;
  second_.watched = static_cast<double>(running_[at_its_limit]) /
                    static_cast<double>(tenants_[at_its_limit].quota.total);
  second_.ledger_writes = quotas_.writes() - std::exchange(ledger_writes_, quotas_.writes());
  for (std::uint16_t cell = 0; cell < scenario_.size.cells; ++cell) {
    const std::uint64_t writes = registry_.writes(cell);
    second_.etcd_writes.push_back(writes - std::exchange(writes_before_[cell], writes));
  }
  if (now_ > scenario_.warm_up) {
    tally_.most_creates_of_node =
        std::max(tally_.most_creates_of_node, *std::ranges::max_element(creates_of_node_));
  }
  std::ranges::fill(creates_of_node_, 0);
  tally_.every.push_back(std::exchange(second_, {}));
  second_.made_in.resize(scenario_.size.cells);
}

}  // namespace cordon::simulation
