// SPDX-License-Identifier: Apache-2.0
// The etcd of a cell as far as nodes and gateways see it: keys under leases, a watch, and how much
// it writes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "etcd/values.h"
#include "fleet/node_id.h"
#include "simulation/wheel.h"

namespace cordon::simulation {

class CellEtcd {
 public:
  explicit CellEtcd(Millis ttl) : ttl_{ttl} {}

  // A lease and the key under it. False: etcd does not write now.
  bool register_node(fleet::NodeId node, std::string value, Millis now);
  // False: there is no such lease, or etcd does not write now.
  bool put(fleet::NodeId node, std::string value);
  // False: there is no such lease. Not a write. While etcd is away nothing answers, which is none.
  bool keep(fleet::NodeId node, Millis now);

  // No quorum: no lease runs out, and each has its whole time afterwards.
  void set_away(bool is_away, Millis now);
  // All leases at once, and none is granted for the time being.
  void lose_all();
  void set_granting(bool is_granting) { is_granting_ = is_granting; }
  // Ends the leases that ran out.
  void expire(Millis now);

  // What watchers are to be told since the last call.
  std::vector<etcd::Event> take_events() { return std::exchange(events_, {}); }
  // What went through Raft: puts, grants, and leases that ended with their keys.
  std::uint64_t writes() const noexcept { return writes_; }
  bool is_away() const noexcept { return is_away_; }

 private:
  void remove(fleet::NodeId node);
  void tell(etcd::Event::Kind kind, fleet::NodeId node, std::string value);

  Millis ttl_;
  std::map<fleet::NodeId, Millis> kept_at_;  // of each lease
  std::vector<etcd::Event> events_;
  etcd::Revision revision_ = 1;
  std::uint64_t writes_ = 0;
  bool is_away_ = false;
  bool is_granting_ = true;
};

}  // namespace cordon::simulation
