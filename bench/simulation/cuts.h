// SPDX-License-Identifier: Apache-2.0
// What goes wrong at a moment: who does not reach whom.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "fleet/node_id.h"
#include "simulation/scenario.h"

namespace cordon::simulation {

class Cuts {
 public:
  explicit Cuts(std::vector<Trouble> troubles) : troubles_{std::move(troubles)} {}

  bool is(Trouble::Kind kind, std::uint16_t cell, Millis now) const {
    return any(now, [&](const Trouble& one) { return one.kind == kind && one.cell == cell; });
  }
  bool is_cut_from_etcd(fleet::NodeId node, Millis now) const {
    return any(now, [&](const Trouble& one) {
      return one.kind == Trouble::Kind::cut_from_etcd && has(one, node);
    });
  }
  bool is_cut(std::uint16_t gateway, fleet::NodeId node, Millis now) const {
    return any(now, [&](const Trouble& one) {
      return one.kind == Trouble::Kind::cut_from_gateway && one.gateway == gateway &&
             has(one, node);
    });
  }
  // Of the moments at which anything begins or ends.
  const std::vector<Trouble>& all() const noexcept { return troubles_; }

 private:
  static bool has(const Trouble& one, fleet::NodeId node) {
    return node.cell == one.cell && node.node < one.nodes;
  }
  template <class Fits>
  bool any(Millis now, Fits fits) const {
    return std::ranges::any_of(troubles_, [&](const Trouble& one) {
      return one.from <= now && now < one.until && fits(one);
    });
  }

  std::vector<Trouble> troubles_;
};

}  // namespace cordon::simulation
