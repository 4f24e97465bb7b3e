// SPDX-License-Identifier: Apache-2.0
// Where a new sandbox goes: the better of two nodes at random, by what they said last and by what
// was sent there since (pure).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fleet/node_id.h"
#include "fleet/summary.h"

namespace cordon::fleet {

// Two at random, and not the best of all: those who decide do not see each other, and would all run
// to the same one. The node has the last word; one that is full says so, and the next is tried.
class Placement {
 public:
  // A number below `end`, each as likely as the others.
  using Random = std::function<std::size_t(std::size_t end)>;

  explicit Placement(Random random) : random_{std::move(random)} {}

  // By whichever way it came. False: it is not newer than what is known.
  bool gauge(NodeId node, const Gauge& gauge);
  // Whether it takes new ones. Of a node without a gauge: kept until there is one.
  void allow(NodeId node, bool is_allowed);
  void forget(NodeId node);

  // A node with room, and with the image at hand where there is one; none of `without`. Nothing:
  // nobody has room.
  // With `cell`: of that one alone.
  std::optional<NodeId> choose(std::string_view image, std::span<const NodeId> without = {},
                               std::optional<std::uint16_t> cell = {});

  // Any that takes new ones, as if it had room: what is believed may be old, and the node has the
  // last word.
  std::optional<NodeId> choose_full(std::span<const NodeId> without,
                                    std::optional<std::uint16_t> cell = {});

  // What was sent there counts at once, until a gauge says what became of it.
  void began(NodeId node);
  void ended(NodeId node);

  // Slots that are believed free.
  std::uint32_t free_of(NodeId node) const;
  // Up to where it was heard.
  Stamp heard_of(NodeId node) const;

 private:
  struct Candidate {
    NodeId id;
    Gauge gauge;
    bool is_allowed = false;
    std::uint32_t on_the_way = 0;  // sent, and not answered
    std::uint32_t ahead = 0;       // sent since the gauge, or on the way when it came
    std::uint32_t room() const noexcept { return gauge.free > ahead ? gauge.free - ahead : 0; }
  };
  template <class Fits>
  std::optional<std::size_t> better_of_two(Fits fits) const;
  const Candidate* find(NodeId node) const;
  Candidate& get(NodeId node);

  Random random_;
  std::vector<Candidate> candidates_;
  std::unordered_map<NodeId, std::size_t> places_;  // in candidates_
};

}  // namespace cordon::fleet
