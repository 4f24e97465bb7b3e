// SPDX-License-Identifier: Apache-2.0
#include "fleet/rollout.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fleet/summary.h"

namespace cordon::fleet {
namespace {

constexpr std::chrono::sys_seconds kNotYet{};

template <class Values, class Value>
bool has(const Values& values, const Value& value) {
  return std::ranges::find(values, value) != values.end();
}

bool is_in_stage(const Rollout& rollout, NodeId node) {
  return rollout.stage == Stage::whole || has(rollout.canaries, node) ||
         (rollout.stage == Stage::rolling && has(rollout.cells, node.cell));
}

// The worst that is said of the release by those who have it.
std::optional<std::string> fault_of(const Rollout& now, const std::vector<NodeRelease>& nodes) {
  for (const NodeRelease& node : nodes) {
    if (!is_in_stage(now, node.node)) continue;
    if (node.refused == now.release) {
      return fmt::format("node {} refused it: {}", to_string(node.node), node.why);
    }
    if (node.release == now.release && node.turned_away > 0 && !now.may_turn_away) {
      return fmt::format("node {} has turned away {} creates that were admitted without it",
                         to_string(node.node), node.turned_away);
    }
  }
  return std::nullopt;
}

std::string names_of(const std::vector<NodeId>& nodes) {
  constexpr std::size_t kMost = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(nodes.size(), kMost); ++i) {
    names += (i == 0 ? "" : ", ") + to_string(nodes[i]);
  }
  if (nodes.size() > kMost) names += fmt::format(" and {} more", nodes.size() - kMost);
  return names;
}

// Of the stage, those that do not run it yet. A canary that is away is waited for; another node
// that is away takes it when it is back.
std::vector<NodeId> missing_of(const Rollout& now, const std::vector<NodeRelease>& nodes) {
  std::vector<NodeId> missing;
  for (const NodeRelease& node : nodes) {
    const bool is_asked = node.is_present && is_in_stage(now, node.node);
    if (is_asked && node.release != now.release) missing.push_back(node.node);
  }
  for (const NodeId canary : now.canaries) {
    const bool is_there = std::ranges::any_of(
        nodes, [&](const NodeRelease& node) { return node.node == canary && node.is_present; });
    if (!is_there) missing.push_back(canary);
  }
  return missing;
}

std::optional<std::uint16_t> next_cell(const Rollout& now, const std::vector<NodeRelease>& nodes,
                                       const std::vector<std::uint16_t>& cells) {
  std::set<std::uint16_t> all{cells.begin(), cells.end()};
  for (const NodeRelease& node : nodes) all.insert(node.node.cell);
  for (const std::uint16_t cell : all) {
    if (!has(now.cells, cell)) return cell;
  }
  return std::nullopt;
}

Step open_next(const Rollout& now, const std::vector<NodeRelease>& nodes,
               const std::vector<std::uint16_t>& cells) {
  Rollout next = now;
  next.since = kNotYet;
  if (const auto cell = next_cell(now, nodes, cells)) {
    next.stage = Stage::rolling;
    next.cells.push_back(*cell);
    return {.next = std::move(next),
            .words = fmt::format("cell {} gets release {}", *cell, now.release)};
  }
  next.stage = Stage::whole;
  next.cells.clear();
  return {.next = std::move(next),
          .words = fmt::format("all nodes have release {}", now.release),
          .is_over = true};
}

}  // namespace

std::string release_key(std::uint64_t number) {
  return std::string{kReleases} + std::to_string(number);
}

std::optional<std::uint64_t> release_of(std::string_view key) {
  if (!key.starts_with(kReleases)) return std::nullopt;
  const std::string_view digits = key.substr(kReleases.size());
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc{} || release_key(number) != key || number == 0) return std::nullopt;
  return number;
}

std::string_view to_string(Stage stage) noexcept {
  switch (stage) {
    case Stage::canary:
      return "canary";
    case Stage::rolling:
      return "rolling";
    case Stage::whole:
      return "whole";
    case Stage::stopped:
      return "stopped";
  }
  return "stopped";
}

std::uint64_t release_for(const Rollout& rollout, NodeId node) {
  if (rollout.stage == Stage::stopped) return rollout.before;
  return is_in_stage(rollout, node) ? rollout.release : rollout.before;
}

Step advance(const Rollout& now, const std::vector<NodeRelease>& nodes,
             const std::vector<std::uint16_t>& cells, std::chrono::sys_seconds time) {
  if (now.stage == Stage::stopped) return {.next = now, .words = now.why, .is_over = true};
  if (now.stage == Stage::whole) {
    return {.next = now,
            .words = fmt::format("all nodes have release {}", now.release),
            .is_over = true};
  }
  if (auto fault = fault_of(now, nodes)) {
    return {.next = rolled_back(now, *fault), .words = *fault, .is_over = true};
  }
  Step step{.next = now};
  const std::vector<NodeId> missing = missing_of(now, nodes);
  if (!missing.empty()) {
    step.next.since = kNotYet;
    step.words = fmt::format("waiting for {}", names_of(missing));
    return step;
  }
  // A clock that was set back begins anew.
  if (now.since == kNotYet || time < now.since) {
    step.next.since = time;
    step.words = fmt::format("all of this stage run release {}: {} s without fault are waited for",
                             now.release, now.soak.count());
    return step;
  }
  if (const auto left = now.soak - (time - now.since); left > left.zero()) {
    step.words = fmt::format("{} s left of this stage", left.count());
    return step;
  }
  return open_next(now, nodes, cells);
}

Rollout rolled_back(Rollout now, std::string_view why) {
  now.stage = Stage::stopped;
  now.cells.clear();
  now.since = kNotYet;
  now.why = plain_words(why);
  return now;
}

Rollout begin_rollout(const std::optional<Rollout>& last, const std::vector<NodeRelease>& nodes,
                      Rollout wanted) {
  std::uint64_t greatest = 0;
  wanted.before = 0;
  for (const NodeRelease& node : nodes) {
    wanted.before = std::max(wanted.before, node.release);
    greatest = std::max({greatest, node.release, node.refused});
  }
  if (last) {
    wanted.before = last->stage == Stage::whole ? last->release : last->before;
    greatest = std::max(greatest, last->release);
  }
  wanted.stage = Stage::canary;
  wanted.release = greatest + 1;
  return wanted;
}

}  // namespace cordon::fleet
