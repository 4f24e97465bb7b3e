// SPDX-License-Identifier: Apache-2.0
// Which tokens were taken back: nothing is admitted with them, and what goes on with them ends.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "journal/journal.h"

namespace cordon::node {

using journal::RevocationId;

// Used from the loop's thread only.
class Revocations {
 public:
  // `known`: of the journal, as it was found. `journal` outlives it.
  Revocations(const asio::any_io_executor& executor, journal::Journal& journal,
              const std::vector<journal::Revocation>& known);

  // Those of one tenant that hold at a time.
  static constexpr std::size_t kMostOfATenant = 4096;

  bool has(const RevocationId& id) const { return held_.contains(id); }
  bool has_any(const std::vector<RevocationId>& ids) const;

  // When it returns it is on the disk, and who waits has been told. `exhausted`: its tenant has
  // kMostOfATenant that hold; those of the node itself are never refused.
  async::Task<void> revoke(journal::Revocation revocation, WallTime now);

  // Until one of them is revoked, or the caller is cancelled.
  asio::awaitable<void> until_any(std::vector<RevocationId> ids);

 private:
  struct Held {
    WallTime until{};
    std::string tenant;
  };
  void add(const journal::Revocation& revocation);
  // Those that concern no token any more.
  void forget_useless(WallTime now);

  journal::Journal& journal_;
  std::map<RevocationId, Held> held_;
  std::map<std::string, std::size_t> counts_;  // of each tenant
  asio::steady_timer news_;                    // never fires: cancelled when one was added
};

}  // namespace cordon::node
