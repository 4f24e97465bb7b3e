// SPDX-License-Identifier: Apache-2.0
// The broker's loop: secrets from one owner, questions from the egresses of tenants.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "broker/arrivals.h"
#include "broker/grants.h"
#include "broker/store.h"
#include "frame/broker.h"
#include "os/epoll.h"
#include "os/fd.h"
#include "os/locked_memory.h"

namespace cordon::broker {

// One message at a time, each answered before the next is read. Nobody is waited for: an egress
// that does not take its answers is let go, and what the owner does not take a record of is not
// done.
class Server {
 public:
  static constexpr std::size_t kMostEgresses = 64;
  // With its sockets, what it waits with, and a few that come with a message.
  static constexpr std::size_t kMostFds = kMostEgresses + 16;

  // Everything that it will need but memory for secrets. `clock` outlives it.
  static Result<Server> create(os::Fd owner, const Clock& clock);

  // Where its owner may leave secrets for longer than it lives. Without one `secret:` gives
  // nothing.
  void use(Store store) { store_.emplace(std::move(store)); }
  // Where those who read sources of secrets tell what they have read. Without it there are none.
  Status hear_sources(os::Fd sources);

  // `exhausted`: it serves kMostEgresses. `invalid`: no socket of the Unix kind.
  Status add_egress(os::Fd egress, std::string tenant);

  // Until the owner has gone, which is no error. An owner that says what does not decode is one:
  // secrets go with either.
  Status run();

 private:
  // Tags of the epoll set.
  static constexpr std::uint64_t kOwner = 0;
  static constexpr std::uint64_t kSources = 1;
  static constexpr std::uint64_t kFirstEgress = 2;

  struct Egress {
    os::Fd socket;
    std::string tenant;
  };

  Server(os::Fd owner, const Clock& clock, os::Epoll epoll, os::LockedMemory in,
         os::LockedMemory out)
      : owner_{std::move(owner)},
        clock_{clock},
        epoll_{std::move(epoll)},
        in_{std::move(in)},
        out_{std::move(out)} {}

  // False: the owner has gone.
  Result<bool> serve_owner();
  frame::BrokerToOwner answer_to(const frame::OwnerToBroker& message, std::vector<os::Fd> fds);
  frame::BrokerToOwner answer(const frame::BindGrant& wanted);
  frame::BrokerToOwner answer(const frame::RevokeGrants& which);
  frame::BrokerToOwner answer(const frame::KeepSecret& wanted);
  frame::BrokerToOwner answer(const frame::DropSecret& wanted);
  frame::BrokerToOwner answer(const frame::ListSecrets& wanted) const;
  Status bind(const frame::BindGrant& wanted);
  // Of a grant that does not bring it along.
  Result<os::LockedMemory> secret_for(const frame::BindGrant& wanted);
  // Gives how many there were.
  std::uint32_t tell_revoked(const std::vector<RevokedGrant>& revoked);
  frame::BrokerToOwner answer(const frame::ServeEgress& wanted, std::vector<os::Fd> fds);
  Status tell_owner(const frame::BrokerToOwner& message) const;

  void serve_sources();
  void serve_egress(std::uint64_t tag);
  // False: it cannot be told.
  bool answer(const Egress& egress, const frame::AskSecret& request);
  bool tell(const Egress& egress, const frame::BrokerToEgress& message);
  void drop(std::uint64_t tag);

  void look_for_expiry();
  std::optional<std::chrono::milliseconds> patience() const;

  os::Fd owner_;
  const Clock& clock_;
  os::Epoll epoll_;
  os::Fd sources_;        // empty where there are none
  os::LockedMemory in_;   // what is read: a message of the owner holds a secret
  os::LockedMemory out_;  // what is said to an egress
  Grants grants_;
  Arrivals arrivals_;
  std::optional<Store> store_;
  std::map<std::uint64_t, Egress> egresses_;  // by tag
  std::uint64_t next_tag_ = kFirstEgress;
  std::optional<Ticks> next_expiry_;
};

}  // namespace cordon::broker
