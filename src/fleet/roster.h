// SPDX-License-Identifier: Apache-2.0
// What one gateway knows of the nodes: followed in etcd, corrected by what they answer, and kept
// for a start while etcd is away.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "etcd/values.h"
#include "fleet/members.h"
#include "fleet/node_id.h"
#include "fleet/placement.h"

namespace cordon::fleet {

// Used from the loop's thread only. But for follow() it is pure: time is told.
class Roster {
 public:
  struct News {
    NodeId node;
    Members::News what = Members::News::updated;
    bool was_dead = false;  // until now
  };

  Roster(Members::Rules rules, Placement::Random random)
      : members_{rules}, placement_{std::move(random)} {}

  // Changes of keys of `cell`. What is no key of a node of it, or says what no node can, is left
  // out and logged. Returns what is more than another summary.
  std::vector<News> took(std::uint16_t cell, std::span<const etcd::Event> events, Ticks now);

  // It answered, with its gauge or without; or it did not.
  void answered(NodeId node, const std::optional<Gauge>& gauge, Ticks now);
  void unanswered(NodeId node, Ticks now);
  // It takes nothing new, or goes on: it said so itself.
  void drains(NodeId node, bool is_draining, Ticks now);

  // Those who are dead from now on. To be called every second or so: time alone changes standings.
  std::vector<NodeId> tick(Ticks now);

  // A node for a new sandbox; those of `without` were tried. began() and ended() enclose the try.
  std::optional<NodeId> choose(std::string_view image, std::span<const NodeId> without = {},
                               std::optional<std::uint16_t> cell = {}) {
    return placement_.choose(image, without, cell);
  }
  std::optional<NodeId> choose_full(std::span<const NodeId> without,
                                    std::optional<std::uint16_t> cell = {}) {
    return placement_.choose_full(without, cell);
  }
  void began(NodeId node) { placement_.began(node); }
  void ended(NodeId node) { placement_.ended(node); }
  // Slots that are believed free. Who was full when it last answered is not chosen, and so tells
  // nothing more by answers: it is to be asked again soon.
  std::uint32_t free_of(NodeId node) const { return placement_.free_of(node); }
  // The latest that was heard of it, by whichever way it came.
  Stamp heard_of(NodeId node) const { return placement_.heard_of(node); }

  // Where it is asked, whatever its standing: a sandbox is looked for where it was made as long as
  // the node answers.
  std::optional<std::string> address_of(NodeId node) const;
  // What it was last said to have at hand.
  WarmSet warm_of(NodeId node) const;
  // What it said of itself last; nothing: there is no such node.
  const Summary* summary(NodeId node) const { return members_.summary(node); }
  bool has_lease(NodeId node) const { return members_.has_lease(node); }
  std::optional<Standing> standing(NodeId node, Ticks now) const {
    return members_.standing(node, now);
  }
  std::vector<NodeId> all() const { return members_.all(); }
  bool is_frozen(std::uint16_t cell) const { return members_.is_frozen(cell); }

  // As lines of text, for the disk. What is restored has no lease: it takes new sandboxes as long
  // as it answers, until etcd has told how it is. Lines that cannot be read are left out.
  std::string saved() const;
  void restore(std::string_view text, Ticks now);

 private:
  void allow(NodeId node, Ticks now);

  Members members_;
  Placement placement_;
};

// Follows the nodes of `cell` in its etcd until it is cancelled or refused. `client`, `roster` and
// `clock` outlive it; `told` hears of what took() returns.
async::Task<void> follow(etcd::Client& client, std::uint16_t cell, Roster& roster,
                         const Clock& clock, std::function<void(const Roster::News&)> told);

}  // namespace cordon::fleet
