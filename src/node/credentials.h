// SPDX-License-Identifier: Apache-2.0
// The credentials of one sandbox, from their owner's side: handed to a broker before the launch,
// and again after its death, for what is left of their life.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "base/wiped.h"
#include "frame/broker.h"
#include "node/broker_owner.h"
#include "node/held_grant.h"
#include "os/fd.h"
#include "policy/document.h"

namespace cordon::node {

// Where a broker finds the secret of a grant: in what it is told, in its store, or among what was
// read for it. One of the three.
struct SecretPlace {
  WipedBytes secret;
  std::string stored;
  std::uint64_t ticket = 0;
};

struct CredentialSources {
  // Once for each broker.
  std::function<async::Task<SecretPlace>(const policy::Grant&)> read;
  // The owner's link to a broker that holds nothing.
  std::function<async::Task<os::Fd>()> open;
  // Brings an egress's end of a socket to the egress.
  std::function<async::Task<void>(os::Fd)> connect;
  std::function<void(const frame::GrantUsed&)> used;
};

// Used from the loop's thread only, and outlives the scope that its tasks run in.
class Credentials {
 public:
  Credentials(asio::any_io_executor executor, std::string sandbox, std::vector<HeldGrant> grants,
              CredentialSources sources);

  // Before the launch, and after the egress was told what the sandbox may reach: returns when the
  // broker holds every grant and the egress can ask it. What hears the broker runs in `scope`.
  async::Task<void> start(async::Scope& scope);
  // As long as the sandbox lives: replaces a broker that has died; no credential is given
  // meanwhile. Ends when it is cancelled.
  asio::awaitable<void> keep(async::Scope& scope);
  // Takes a grant back for good: a broker that replaces a dead one does not get it either. Returns
  // when it is given no more and the egress has been told, which closes what it opened.
  async::Task<void> revoke(std::string grant);
  // The egress was replaced: it needs a way to the broker again.
  async::Task<void> reconnect();

 private:
  async::Task<void> bind_all();

  asio::any_io_executor executor_;
  std::string sandbox_;
  std::vector<HeldGrant> grants_;
  CredentialSources sources_;
  asio::steady_timer lost_;  // never fires: cancelled where the broker is lost
  Ticks began_;              // the life of the grants
  std::shared_ptr<BrokerOwner> owner_;
};

}  // namespace cordon::node
