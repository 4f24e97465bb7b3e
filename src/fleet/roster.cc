// SPDX-License-Identifier: Apache-2.0
#include "fleet/roster.h"

#include <utility>

#include "base/log.h"
#include "etcd/mirror.h"
#include "fleet/summary.h"

namespace cordon::fleet {

std::vector<Roster::News> Roster::took(std::uint16_t cell, std::span<const etcd::Event> events,
                                       Ticks now) {
  std::vector<News> news;
  for (const etcd::Event& event : events) {
    // Who it is, the key says: etcd lets a node write its own alone. What it says is its word.
    const auto node = node_of(event.now.key);
    if (!node || node->cell != cell) {
      log(LogLevel::warning, "fleet", "a key that is no node's", {{"key", event.now.key}});
      continue;
    }
    if (event.kind == etcd::Event::Kind::removed) {
      members_.lease_gone(*node, now);
      continue;
    }
    const auto summary = decode_summary(event.now.value);
    if (!summary) {
      log(LogLevel::warning, "fleet", "a node says what none can",
          {{"node", to_string(*node)}, {"why", summary.error().text()}});
      continue;
    }
    if (summary->is_expelled) {
      if (members_.expel(*node, now)) {
        placement_.forget(*node);
        news.push_back({.node = *node, .what = Members::News::expelled});
      }
      continue;
    }
    const bool was_dead = members_.standing(*node, now) == Standing::dead;
    const Members::News what = members_.seen(*node, *summary, now);
    placement_.gauge(*node, summary->gauge);
    if (what != Members::News::updated && what != Members::News::stale) {
      news.push_back({.node = *node, .what = what, .was_dead = was_dead});
    }
  }
  // Of all: a freeze begins and ends with others.
  for (const NodeId node : members_.all()) allow(node, now);
  return news;
}

void Roster::answered(NodeId node, const std::optional<Gauge>& gauge, Ticks now) {
  members_.answered(node, now);
  if (gauge && members_.summary(node) != nullptr) placement_.gauge(node, *gauge);
  allow(node, now);
}

void Roster::unanswered(NodeId node, Ticks now) {
  members_.unanswered(node, now);
  allow(node, now);
}

void Roster::drains(NodeId node, bool is_draining, Ticks now) {
  members_.drains(node, is_draining);
  allow(node, now);
}

std::vector<NodeId> Roster::tick(Ticks now) {
  std::vector<NodeId> dead = members_.declare_dead(now);
  for (const NodeId node : members_.all()) allow(node, now);
  return dead;
}

void Roster::allow(NodeId node, Ticks now) {
  const auto standing = members_.standing(node, now);
  if (standing) placement_.allow(node, *standing == Standing::placeable);
}

std::optional<std::string> Roster::address_of(NodeId node) const {
  const Summary* const summary = members_.summary(node);
  if (summary == nullptr || summary->is_expelled) return std::nullopt;
  return summary->address;
}

WarmSet Roster::warm_of(NodeId node) const {
  const Summary* const summary = members_.summary(node);
  return summary == nullptr ? WarmSet{} : summary->gauge.warm;
}

// KEY SUMMARY
std::string Roster::saved() const {
  std::string text;
  for (const NodeId node : members_.all()) {
    text.append(key_of(node)).append(" ").append(encode(*members_.summary(node))).append("\n");
  }
  return text;
}

void Roster::restore(std::string_view text, Ticks now) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const auto node = node_of(line.substr(0, space));
    const auto summary = decode_summary(line.substr(space + 1));
    if (!node || !summary) continue;
    if (summary->is_expelled) {
      members_.expel(*node, now);
    } else {
      members_.restored(*node, *summary, now);
      placement_.gauge(*node, summary->gauge);
    }
    allow(*node, now);
  }
}

async::Task<void> follow(etcd::Client& client, std::uint16_t cell, Roster& roster,
                         const Clock& clock, std::function<void(const Roster::News&)> told) {
  etcd::Mirror mirror{client, nodes_of(cell), [&](const std::vector<etcd::Event>& events) {
                        for (const Roster::News& news : roster.took(cell, events, clock.ticks())) {
                          told(news);
                        }
                      }};
  co_return co_await mirror.run();
}

}  // namespace cordon::fleet
