// SPDX-License-Identifier: Apache-2.0
#include "fleet/members.h"

#include <algorithm>

namespace cordon::fleet {

std::size_t Members::count(std::uint16_t cell, Counted counted) const {
  const auto begin = members_.lower_bound({.cell = cell, .node = 0});
  std::size_t sum = 0;
  for (auto at = begin; at != members_.end() && at->first.cell == cell; ++at) {
    if (!at->second.is_dead && counted(at->second)) ++sum;
  }
  return sum;
}

// More than a tenth of the cell, or more than three. One by itself is never many: in a cell of four
// it would be a quarter.
bool Members::are_many(std::uint16_t cell, std::size_t gone) const {
  const std::size_t size = count(cell, [](const Member&) { return true; });
  return gone > 3 || (gone > 1 && gone * 10 > size);
}

void Members::thaw(std::uint16_t cell) {
  const auto found = frozen_.find(cell);
  if (found == frozen_.end() || !found->second) return;
  found->second = are_many(cell, count(cell, [](const Member& one) { return !one.has_lease; }));
}

Members::News Members::seen(NodeId node, const Summary& summary, Ticks now) {
  const auto [at, is_new] = members_.try_emplace(node);
  Member& member = at->second;
  const Stamp known = member.summary.gauge.at;
  if (!is_new && summary.gauge.at < known) return News::stale;
  const bool was_dead = member.is_dead;
  const bool is_reborn = !is_new && summary.gauge.at.epoch > known.epoch;
  // Also the same again: its lease was gone, and the key stands there anew.
  member.summary = summary;
  member.has_lease = true;
  if (is_new || was_dead || is_reborn) {
    member.is_dead = false;
    member.silent_since.reset();
    member.failures = 0;
  }
  member.lease_gone_at = now;
  thaw(node.cell);
  if (is_new) return News::joined;
  if (is_reborn) return News::reborn;
  return was_dead ? News::returned : News::updated;
}

void Members::lease_gone(NodeId node, Ticks now) {
  const auto found = members_.find(node);
  if (found == members_.end() || !found->second.has_lease) return;
  found->second.has_lease = false;
  found->second.lease_gone_at = now;
  std::size_t lately = 0;
  for (const auto& [id, member] : members_) {
    const bool counts = id.cell == node.cell && !member.has_lease && !member.is_dead &&
                        now - member.lease_gone_at <= rules_.window;
    lately += counts ? 1 : 0;
  }
  if (are_many(node.cell, lately)) frozen_[node.cell] = true;
}

bool Members::expel(NodeId node, Ticks now) {
  Member& member = members_[node];
  if (member.summary.is_expelled) return false;
  // Also its stamp: whoever is let in anew in its place begins anew.
  member.summary = Summary{.address = {}, .is_expelled = true};
  member.is_dead = true;
  member.has_lease = false;
  member.lease_gone_at = now;
  thaw(node.cell);
  return true;
}

void Members::restored(NodeId node, const Summary& summary, Ticks now) {
  const auto [at, is_new] = members_.try_emplace(node);
  if (!is_new) return;
  at->second = {.summary = summary, .has_lease = false, .lease_gone_at = now};
  // What its etcd says of the others decides when this ends.
  frozen_[node.cell] = true;
}

void Members::answered(NodeId node, Ticks now) {
  const auto found = members_.find(node);
  if (found == members_.end()) return;
  // What was declared dead was given up: it comes back by its key alone.
  if (found->second.is_dead) return;
  found->second.answered_at = now;
  found->second.silent_since.reset();
  found->second.failures = 0;
}

void Members::unanswered(NodeId node, Ticks now) {
  const auto found = members_.find(node);
  if (found == members_.end()) return;
  if (!found->second.silent_since) found->second.silent_since = now;
  ++found->second.failures;
}

void Members::drains(NodeId node, bool is_draining) {
  const auto found = members_.find(node);
  if (found != members_.end()) found->second.summary.is_draining = is_draining;
}

bool Members::is_due(const Member& member, Ticks now) const {
  return !member.is_dead && !member.has_lease && member.silent_since &&
         now - *member.silent_since >= rules_.grace && now - member.lease_gone_at >= rules_.grace &&
         member.failures >= rules_.failures;
}

// A cell of two has one witness against the other.
bool Members::is_cut_off(std::uint16_t cell) const {
  const std::size_t silent =
      count(cell, [](const Member& one) { return one.silent_since.has_value(); });
  const std::size_t size = count(cell, [](const Member&) { return true; });
  return size > 1 && silent * 2 > size;
}

std::vector<NodeId> Members::declare_dead(Ticks now) {
  std::map<std::uint16_t, bool> cut_off;
  std::vector<NodeId> dead;
  for (auto& [id, member] : members_) {
    const auto [cell, is_new] = cut_off.try_emplace(id.cell);
    if (is_new) cell->second = is_cut_off(id.cell);
    if (cell->second) {
      // Nor afterwards: they answer one after the other, and the last would die of the first.
      if (member.silent_since) member.silent_since = now;
      member.failures = 0;
    } else if (is_due(member, now)) {
      dead.push_back(id);
    }
  }
  for (const NodeId id : dead) members_.at(id).is_dead = true;
  for (const NodeId id : dead) thaw(id.cell);
  return dead;
}

std::optional<Standing> Members::standing(NodeId node, Ticks now) const {
  const auto found = members_.find(node);
  if (found == members_.end()) return std::nullopt;
  const Member& member = found->second;
  if (member.is_dead) return Standing::dead;
  const bool answers = member.answered_at && now - *member.answered_at <= rules_.fresh;
  const bool is_believed = member.has_lease || (is_frozen(node.cell) && answers);
  const bool is_silent = member.silent_since.has_value();
  if (!is_believed || is_silent || member.summary.is_draining) return Standing::kept;
  return Standing::placeable;
}

bool Members::has_lease(NodeId node) const {
  const auto found = members_.find(node);
  return found != members_.end() && found->second.has_lease;
}

const Summary* Members::summary(NodeId node) const {
  const auto found = members_.find(node);
  return found == members_.end() ? nullptr : &found->second.summary;
}

bool Members::is_frozen(std::uint16_t cell) const {
  const auto found = frozen_.find(cell);
  return found != frozen_.end() && found->second;
}

std::vector<NodeId> Members::all() const {
  std::vector<NodeId> ids;
  ids.reserve(members_.size());
  for (const auto& [id, member] : members_) ids.push_back(id);
  return ids;
}

}  // namespace cordon::fleet
