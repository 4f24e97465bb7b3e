// SPDX-License-Identifier: Apache-2.0
#include "simulation/cell_etcd.h"

namespace cordon::simulation {

void CellEtcd::tell(etcd::Event::Kind kind, fleet::NodeId node, std::string value) {
  ++writes_;
  ++revision_;
  events_.push_back(
      {.kind = kind,
       .now = {.key = fleet::key_of(node), .value = std::move(value), .mod_revision = revision_}});
}

bool CellEtcd::register_node(fleet::NodeId node, std::string value, Millis now) {
  if (is_away_ || !is_granting_) return false;
  ++writes_;  // the grant
  kept_at_[node] = now;
  tell(etcd::Event::Kind::put, node, std::move(value));
  return true;
}

bool CellEtcd::put(fleet::NodeId node, std::string value) {
  if (is_away_ || !kept_at_.contains(node)) return false;
  tell(etcd::Event::Kind::put, node, std::move(value));
  return true;
}

bool CellEtcd::keep(fleet::NodeId node, Millis now) {
  if (is_away_) return true;
  const auto found = kept_at_.find(node);
  if (found == kept_at_.end()) return false;
  found->second = now;
  return true;
}

void CellEtcd::set_away(bool is_away, Millis now) {
  if (is_away_ && !is_away) {
    for (auto& [node, kept] : kept_at_) kept = now;
  }
  is_away_ = is_away;
}

void CellEtcd::remove(fleet::NodeId node) {
  kept_at_.erase(node);
  tell(etcd::Event::Kind::removed, node, {});
}

void CellEtcd::lose_all() {
  is_granting_ = false;
  while (!kept_at_.empty()) remove(kept_at_.begin()->first);
}

void CellEtcd::expire(Millis now) {
  if (is_away_) return;
  std::vector<fleet::NodeId> over;
  for (const auto& [node, kept] : kept_at_) {
    if (now - kept > ttl_) over.push_back(node);
  }
  for (const fleet::NodeId node : over) remove(node);
}

}  // namespace cordon::simulation
