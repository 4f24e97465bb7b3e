// SPDX-License-Identifier: Apache-2.0
// Who is in the fleet, as one observer sees it: by leases, and by whether nodes answer (pure).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "fleet/node_id.h"
#include "fleet/summary.h"

namespace cordon::fleet {

enum class Standing : std::uint8_t {
  placeable,  // takes new sandboxes
  kept,       // takes nothing new; what it has is still asked for there
  dead,       // what it had is gone
};

// A lease that is gone means "place nothing new", never "dead": etcd may lose them all at once.
// Dead is whoever has no lease and does not answer us for a grace time. Where many leases of a cell
// go within a short time, it is etcd that is believed ill: then nodes that answer are placeable.
class Members {
 public:
  struct Rules {
    std::chrono::seconds window{30};  // in which leases that go are counted together
    std::chrono::seconds grace{30};   // without an answer
    std::uint32_t failures = 3;       // and so many attempts
    std::chrono::seconds fresh{10};   // how long an answer stands for a lease
  };
  enum class News : std::uint8_t {
    stale,  // said before what is known: nothing changed
    updated,
    joined,
    reborn,    // another start of the node: what it had before is gone
    returned,  // was given up, and is the same start all the same
    expelled,
  };

  explicit Members(Rules rules) : rules_{rules} {}

  // Its key was written. Time does not go back between calls.
  News seen(NodeId node, const Summary& summary, Ticks now);
  // Its key is gone.
  void lease_gone(NodeId node, Ticks now);
  // Its key says that it has been expelled: dead at once, whatever it answers, until its own key
  // stands there again. False: that was known.
  bool expel(NodeId node, Ticks now);
  // Known from before, at the start of an observer that may not reach etcd: without a lease, and
  // not for that in doubt. Of a node that is known: nothing.
  void restored(NodeId node, const Summary& summary, Ticks now);
  // It answered us, or it did not. Of a node that is not known: nothing.
  void answered(NodeId node, Ticks now);
  void unanswered(NodeId node, Ticks now);
  // It said so by another way than its key, which follows. Of a node that is not known: nothing.
  void drains(NodeId node, bool is_draining);
  // Those that are dead from now on, told once. None while more than half of a cell does not
  // answer: then it is we who are cut off, and a silence counts from its end on.
  std::vector<NodeId> declare_dead(Ticks now);

  // Nothing: not known.
  std::optional<Standing> standing(NodeId node, Ticks now) const;
  const Summary* summary(NodeId node) const;
  bool has_lease(NodeId node) const;
  // Leases of the cell are not believed.
  bool is_frozen(std::uint16_t cell) const;
  std::vector<NodeId> all() const;

 private:
  struct Member {
    Summary summary;
    bool has_lease = true;
    bool is_dead = false;
    Ticks lease_gone_at{};
    std::optional<Ticks> answered_at;
    std::optional<Ticks> silent_since;
    std::uint32_t failures = 0;
  };
  using Counted = bool (*)(const Member&);
  std::size_t count(std::uint16_t cell, Counted counted) const;
  bool are_many(std::uint16_t cell, std::size_t gone) const;
  void thaw(std::uint16_t cell);
  bool is_due(const Member& member, Ticks now) const;
  bool is_cut_off(std::uint16_t cell) const;

  Rules rules_;
  std::map<NodeId, Member> members_;
  std::map<std::uint16_t, bool> frozen_;  // by cell
};

}  // namespace cordon::fleet
