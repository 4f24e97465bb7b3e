// SPDX-License-Identifier: Apache-2.0
#include "simulation/gateway.h"

#include <algorithm>
#include <random>

#include "fleet/summary.h"

namespace cordon::simulation {
namespace {

constexpr Millis kProbeAfter{5000};
// Who is believed full is not sent anything that it could answer: within seconds it may be the
// emptiest of all.
constexpr Millis kProbeFullAfter{1000};

fleet::Placement::Random seeded(std::uint32_t seed) {
  return [random = std::minstd_rand{seed}](std::size_t end) mutable {
    return std::uniform_int_distribution<std::size_t>{0, end - 1}(random);
  };
}

}  // namespace

Gateway::Gateway(const Arm& arm, std::uint32_t seed)
    : arm_{arm}, roster_{arm.rules, seeded(seed)} {}

void Gateway::took(std::uint16_t cell, std::span<const etcd::Event> events, Millis now) {
  roster_.took(cell, events, ticks_at(now));
  for (const etcd::Event& event : events) {
    const auto node = fleet::node_of(event.now.key);
    asked_.try_emplace(*node, now);
    if (arm_.choice == Arm::Choice::placement) continue;
    const bool is_put = event.kind == etcd::Event::Kind::put;
    const std::uint32_t free = is_put ? fleet::decode_summary(event.now.value)->gauge.free : 0;
    const auto known = std::ranges::find(told_, *node, &decltype(told_)::value_type::first);
    if (known == told_.end()) {
      told_.emplace_back(*node, free);
    } else {
      known->second = free;
    }
  }
}

std::optional<fleet::NodeId> Gateway::choose(std::string_view image,
                                             std::span<const fleet::NodeId> without) {
  if (arm_.choice == Arm::Choice::least_loaded) return least_loaded(without);
  return roster_.choose(image, without);
}

std::optional<fleet::NodeId> Gateway::least_loaded(std::span<const fleet::NodeId> without) const {
  std::optional<fleet::NodeId> best;
  std::uint32_t room = 0;
  for (const auto& [node, free] : told_) {
    if (free <= room || std::ranges::find(without, node) != without.end()) continue;
    best = node;
    room = free;
  }
  return best;
}

void Gateway::answered(fleet::NodeId node, const fleet::Gauge& gauge, Millis now) {
  roster_.answered(node, arm_.piggybacks ? std::optional{gauge} : std::nullopt, ticks_at(now));
  asked_[node] = now;
}

void Gateway::unanswered(fleet::NodeId node, Millis now) {
  roster_.unanswered(node, ticks_at(now));
}

std::vector<fleet::NodeId> Gateway::to_probe(Millis now) {
  std::vector<fleet::NodeId> quiet;
  for (auto& [node, asked] : asked_) {
    const bool is_full = arm_.asks_the_full && roster_.free_of(node) == 0;
    if (now - asked < (is_full ? kProbeFullAfter : kProbeAfter)) continue;
    asked = now;
    quiet.push_back(node);
  }
  // In one order on every machine.
  std::ranges::sort(quiet);
  return quiet;
}

}  // namespace cordon::simulation
