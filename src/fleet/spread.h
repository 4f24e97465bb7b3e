// SPDX-License-Identifier: Apache-2.0
// What was taken back is told to the whole fleet: by etcd to all that follow it, and to each node
// at once, also while etcd is away.
#pragma once

#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "fleet/nodes.h"
#include "fleet/revoked.h"

namespace cordon::fleet {

// Used from the loop's thread only.
class Spread {
 public:
  // All outlive it. `client`: of the etcd of all cells.
  Spread(const asio::any_io_executor& executor, etcd::Client& client, Revoked& revoked,
         Nodes& nodes, const Clock& clock);
  Spread(const Spread&) = delete;
  Spread& operator=(const Spread&) = delete;

  // Holds here when it is called. When it returns, every node that answers has it; etcd has it, or
  // is told as soon as it is back.
  async::Task<void> revoke(Revocation revocation);

  // Tells etcd what it has not heard yet; until it is cancelled.
  asio::awaitable<void> keep();
  // Nobody needs it any more: etcd need not keep it. Where that fails another gateway does it.
  asio::awaitable<void> forget(RevocationId id);

  // What etcd has not heard yet, for the next start; and what an earlier one left.
  const std::vector<Revocation>& waiting() const noexcept { return waiting_; }
  void restore(std::vector<Revocation> waiting) { waiting_ = std::move(waiting); }

 private:
  asio::awaitable<void> tell(NodeId node, Revocation revocation);
  async::Task<void> write(Revocation revocation);

  etcd::Client& client_;
  Revoked& revoked_;
  Nodes& nodes_;
  const Clock& clock_;
  std::vector<Revocation> waiting_;  // for etcd
  asio::steady_timer news_;          // never fires: cancelled when one has begun to wait
};

}  // namespace cordon::fleet
