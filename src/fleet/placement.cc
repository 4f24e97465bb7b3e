// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement.h"

#include <algorithm>
#include <array>

namespace cordon::fleet {
namespace {

// Where this many at random find no two that fit, few do: then all are looked through.
constexpr int kProbes = 12;

}  // namespace

const Placement::Candidate* Placement::find(NodeId node) const {
  const auto found = places_.find(node);
  return found == places_.end() ? nullptr : &candidates_[found->second];
}

Placement::Candidate& Placement::get(NodeId node) {
  const auto [at, is_new] = places_.try_emplace(node, candidates_.size());
  if (is_new) candidates_.push_back({.id = node});
  return candidates_[at->second];
}

bool Placement::gauge(NodeId node, const Gauge& gauge) {
  Candidate& known = get(node);
  if (known.gauge.slots != 0 && gauge.at <= known.gauge.at) {
    // Said again: what it has answered since has changed nothing there, and counts no more.
    if (gauge.at == known.gauge.at) known.ahead = known.on_the_way;
    return false;
  }
  // What was on the way to an earlier start of it does not arrive.
  if (gauge.at.epoch != known.gauge.at.epoch) known.on_the_way = 0;
  known.gauge = gauge;
  known.ahead = known.on_the_way;
  return true;
}

void Placement::allow(NodeId node, bool is_allowed) { get(node).is_allowed = is_allowed; }

void Placement::forget(NodeId node) {
  const auto found = places_.find(node);
  if (found == places_.end()) return;
  const std::size_t place = found->second;
  places_.erase(found);
  if (place + 1 != candidates_.size()) {
    candidates_[place] = candidates_.back();
    places_[candidates_[place].id] = place;
  }
  candidates_.pop_back();
}

template <class Fits>
std::optional<std::size_t> Placement::better_of_two(Fits fits) const {
  const std::size_t all = candidates_.size();
  if (all == 0) return std::nullopt;
  std::array<std::size_t, 2> drawn{};
  std::size_t count = 0;
  for (int probe = 0; probe < kProbes && count < 2; ++probe) {
    const std::size_t at = random_(all);
    if (!fits(candidates_[at]) || (count == 1 && drawn[0] == at)) continue;
    drawn[count++] = at;
  }
  if (count < 2) {
    // Two of those that fit, each pair as likely as the others.
    count = 0;
    std::size_t seen = 0;
    for (std::size_t at = 0; at < all; ++at) {
      if (!fits(candidates_[at])) continue;
      ++seen;
      if (count < 2) {
        drawn[count++] = at;
      } else if (const std::size_t slot = random_(seen); slot < 2) {
        drawn[slot] = at;
      }
    }
  }
  if (count == 0) return std::nullopt;
  if (count == 1) return drawn[0];
  const Candidate& one = candidates_[drawn[0]];
  const Candidate& other = candidates_[drawn[1]];
  // The larger part of it is free: nodes need not be of one size.
  const bool is_other =
      std::uint64_t{other.room()} * one.gauge.slots > std::uint64_t{one.room()} * other.gauge.slots;
  return is_other ? drawn[1] : drawn[0];
}

std::optional<NodeId> Placement::choose(std::string_view image, std::span<const NodeId> without,
                                        std::optional<std::uint16_t> cell) {
  const auto has_room = [without, cell](const Candidate& one) {
    return one.is_allowed && one.room() > 0 && cell.value_or(one.id.cell) == one.id.cell &&
           std::ranges::find(without, one.id) == without.end();
  };
  auto chosen = better_of_two(
      [&](const Candidate& one) { return one.gauge.warm.may_have(image) && has_room(one); });
  if (!chosen) chosen = better_of_two(has_room);
  if (!chosen) return std::nullopt;
  return candidates_[*chosen].id;
}

std::optional<NodeId> Placement::choose_full(std::span<const NodeId> without,
                                             std::optional<std::uint16_t> cell) {
  const auto chosen = better_of_two([without, cell](const Candidate& one) {
    return one.is_allowed && cell.value_or(one.id.cell) == one.id.cell &&
           std::ranges::find(without, one.id) == without.end();
  });
  if (!chosen) return std::nullopt;
  return candidates_[*chosen].id;
}

void Placement::began(NodeId node) {
  Candidate& known = get(node);
  ++known.on_the_way;
  ++known.ahead;
}

void Placement::ended(NodeId node) {
  const auto found = places_.find(node);
  if (found == places_.end()) return;
  Candidate& known = candidates_[found->second];
  if (known.on_the_way > 0) --known.on_the_way;
}

Stamp Placement::heard_of(NodeId node) const {
  const Candidate* const known = find(node);
  return known == nullptr ? Stamp{} : known->gauge.at;
}

std::uint32_t Placement::free_of(NodeId node) const {
  const Candidate* const known = find(node);
  return known == nullptr ? 0 : known->room();
}

}  // namespace cordon::fleet
