// SPDX-License-Identifier: Apache-2.0
// Where releases of the fleet's policy are pushed, moved on and taken back. It keeps nothing: all
// that there is to know stands in etcd, and any gateway goes on where another one has stopped.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "fleet/nodes.h"
#include "fleet/rollout.h"

namespace cordon::fleet {

// Used from the loop's thread only.
class PolicyDesk {
 public:
  // All outlive it. `client`: of the etcd of all cells. `cells`: all that there are.
  PolicyDesk(etcd::Client& client, const Nodes& nodes, const Clock& clock,
             std::vector<std::uint16_t> cells)
      : client_{client}, nodes_{nodes}, clock_{clock}, cells_{std::move(cells)} {}

  struct Stand {
    std::optional<Rollout> rollout;  // nothing: none was ever pushed
    etcd::Revision revision = 0;
    std::string words{};  // of a step
  };
  async::Task<Stand> look();
  // Of what is there; `not_found`: it is not.
  async::Task<std::string> text_of(std::uint64_t release);

  struct Push {
    std::string text;
    std::vector<NodeId> canaries;  // none: one that takes new sandboxes
    std::chrono::seconds soak{30};
    bool may_turn_away = false;
    std::string by;
  };
  // Canaries get it. The same text again, while it is being rolled out: goes on with that.
  // `invalid`: it is no release, or no canary; `exists`: another one is being rolled out.
  async::Task<Stand> push(Push push);
  // One step, where it is time. Whoever wants the release to get on calls it again and again.
  async::Task<Stand> step();
  // Everybody goes back to the one before.
  async::Task<Stand> roll_back(std::string by);

  std::vector<NodeRelease> nodes() const;

 private:
  // `exists`: somebody else has changed it meanwhile.
  async::Task<Stand> write(Stand stand, Rollout next, std::vector<etcd::Operation> also = {});
  Result<std::vector<NodeId>> canaries_for(const Push& push) const;

  etcd::Client& client_;
  const Nodes& nodes_;
  const Clock& clock_;
  std::vector<std::uint16_t> cells_;
};

}  // namespace cordon::fleet
