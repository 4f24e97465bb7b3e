// SPDX-License-Identifier: Apache-2.0
#include "simulation/registry.h"

#include <algorithm>

namespace cordon::simulation {
namespace {

using Kind = Trouble::Kind;

// fleet::Registration::Rules, and how etcd::keep_alive() and it wait.
constexpr Millis kTtl{12'000};
constexpr Millis kKeepEvery{4000};
constexpr Millis kLookLeast{8000};
constexpr Millis kLookMost{10'000};
constexpr Millis kSpread{1000};
constexpr Millis kPauseLeast{500};
constexpr Millis kPauseMost{2000};
constexpr Millis kBatch{50};    // what a watch says in one message
constexpr Millis kOnTheWay{5};  // to the first gateway; to each of the others a little longer
constexpr Millis kExpireEvery{100};

}  // namespace

Registry::Registry(const Scenario& scenario, std::vector<Node>& nodes, const Cuts& cuts,
                   Chance& chance)
    : nodes_{nodes},
      cuts_{cuts},
      chance_{chance},
      gateways_{scenario.size.gateways},
      etcds_(scenario.size.cells, CellEtcd{kTtl}),
      held_(scenario.size.cells),
      lives_(nodes.size()),
      timers_{scenario.length},
      told_{scenario.length} {}

void Registry::begin() {
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    Node& one = nodes_[node];
    one.written = one.summary();
    etcd_of(node).register_node(one.id(), fleet::encode(*one.written), Millis{0});
    after(chance_.between(Millis{1}, kKeepEvery), node, Act::keep, Millis{0});
    after(chance_.between(Millis{1}, kLookMost), node, Act::look, Millis{0});
  }
}

void Registry::start(std::size_t node, Millis now) {
  ++lives_[node];
  join(node, now);
}

void Registry::join(std::size_t node, Millis now) {
  Node& one = nodes_[node];
  if (!one.is_up()) return;
  const fleet::Summary summary = one.summary();
  if (cuts_.is_cut_from_etcd(one.id(), now) ||
      !etcd_of(node).register_node(one.id(), fleet::encode(summary), now)) {
    after(chance_.between(kPauseLeast, kPauseMost), node, Act::join, now);
    return;
  }
  one.written = summary;
  after(kKeepEvery, node, Act::keep, now);
  after(chance_.between(kLookLeast, kLookMost), node, Act::look, now);
}

void Registry::keep(std::size_t node, Millis now) {
  Node& one = nodes_[node];
  if (!one.is_up()) return;
  if (cuts_.is_cut_from_etcd(one.id(), now) || etcd_of(node).keep(one.id(), now)) {
    after(kKeepEvery, node, Act::keep, now);
    return;
  }
  one.written.reset();
  ++lives_[node];
  after(chance_.between(Millis{1}, kSpread), node, Act::join, now);
}

void Registry::look(std::size_t node, Millis now) {
  Node& one = nodes_[node];
  if (!one.is_up()) return;
  const fleet::Summary summary = one.summary();
  Millis wait = chance_.between(kLookLeast, kLookMost);
  if (fleet::differs(*one.written, summary)) {
    if (!cuts_.is_cut_from_etcd(one.id(), now) &&
        etcd_of(node).put(one.id(), fleet::encode(summary))) {
      one.written = summary;
    } else {
      wait = chance_.between(kPauseLeast, kPauseMost);
    }
  }
  after(wait, node, Act::look, now);
}

void Registry::change_etcds(Millis now) {
  for (const Trouble& one : cuts_.all()) {
    CellEtcd& etcd = etcds_[one.cell];
    if (one.kind == Kind::leases_lost && one.from == now) etcd.lose_all();
    if (one.kind == Kind::leases_lost && one.until == now) etcd.set_granting(true);
    if (one.kind == Kind::etcd_away && one.from == now) etcd.set_away(true, now);
    if (one.kind == Kind::etcd_away && one.until == now) etcd.set_away(false, now);
  }
}

void Registry::tell(Millis now) {
  for (std::uint16_t cell = 0; cell < etcds_.size(); ++cell) {
    std::ranges::move(etcds_[cell].take_events(), std::back_inserter(held_[cell]));
    if (held_[cell].empty() || cuts_.is(Kind::watches_stall, cell, now)) continue;
    for (std::uint16_t gateway = 0; gateway < gateways_; ++gateway) {
      const Millis way = kOnTheWay + Millis{gateway};
      told_.at(now + way, {.gateway = gateway, .cell = cell, .events = held_[cell]});
    }
    held_[cell].clear();
  }
}

void Registry::run(Millis now) {
  change_etcds(now);
  for (const Timer& timer : timers_.take(now)) {
    if (timer.life != lives_[timer.node]) continue;
    switch (timer.act) {
      case Act::join:
        join(timer.node, now);
        break;
      case Act::keep:
        keep(timer.node, now);
        break;
      case Act::look:
        look(timer.node, now);
        break;
    }
  }
  if (now % kExpireEvery == Millis{0}) {
    for (CellEtcd& etcd : etcds_) etcd.expire(now);
  }
  if (now % kBatch == Millis{0}) tell(now);
}

}  // namespace cordon::simulation
