// SPDX-License-Identifier: Apache-2.0
// The owner's end of cordon-broker: hands it secrets, takes them back, hears of each use.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/wiped.h"
#include "frame/broker.h"
#include "os/fd.h"
#include "policy/document.h"

namespace cordon::node {

// What the policy says of a grant, for one sandbox; without its secret. `placeholder`: of
// frame/placeholder.h, empty where the grant has no variable.
frame::BindGrant binding_of(const policy::Grant& grant, std::string sandbox, std::string tenant,
                            std::string placeholder);

// Used from the loop's thread only; tasks refer to it, so it outlives them. Calls may overlap.
class BrokerOwner {
 public:
  static constexpr std::chrono::milliseconds kPatience{2000};
  // Longer than a source may take to be read.
  static constexpr std::chrono::seconds kSourcePatience{16};

  struct Callbacks {
    // Before the egress has its answer. Each is to be recorded: a broker whose records are not read
    // gives no secrets.
    std::function<void(const frame::GrantUsed&)> used;
    // All secrets are gone with it.
    std::function<void()> lost;
  };

  BrokerOwner(const asio::any_io_executor& executor, os::Fd socket, Callbacks callbacks,
              std::chrono::milliseconds patience = kPatience);
  BrokerOwner(const BrokerOwner&) = delete;
  BrokerOwner& operator=(const BrokerOwner&) = delete;

  // Hears the broker until it has gone or this is cancelled: spawned once, in the owner's scope.
  // Without it no call is answered.
  asio::awaitable<void> run();

  // `secret` is wiped. `denied`: the broker refused, with its code and reason. `unavailable`,
  // `timeout`: it did not answer, or what the grant's ticket stands for was not read in time. A
  // grant holds ttl_seconds from now: bind it again before that.
  async::Task<void> bind(frame::BindGrant grant, WipedBytes secret);
  // How many were good until now. When it returns none of them is given any more, and their
  // egresses have been told.
  async::Task<std::uint32_t> revoke(frame::RevokeGrants which);
  // Leaves a secret with the broker for longer than either lives, in place of one of that name,
  // whose grants end. `secret` is wiped. Gives how many grants that were.
  async::Task<std::uint32_t> keep(std::string tenant, std::string name, WipedBytes secret);
  // False: there was none of that name. Its grants have ended.
  async::Task<bool> drop(std::string tenant, std::string name);
  // All names, in order.
  async::Task<std::vector<std::string>> list(std::string tenant);
  // Hands over the broker's end of a socket to an egress.
  async::Task<void> serve_egress(std::string tenant, os::Fd socket);

  bool is_lost() const noexcept { return lost_; }

 private:
  struct Call {
    explicit Call(const asio::any_io_executor& executor) : answered{executor} {}
    asio::steady_timer answered;  // cancelled when there is an answer
    std::optional<frame::BrokerToOwner> answer;
  };

  async::Task<frame::BrokerToOwner> ask(WipedBytes message, std::optional<os::Fd> fd);
  void hear_all();
  void hear(std::span<const std::byte> bytes);
  void lose();

  asio::posix::stream_descriptor socket_;
  Callbacks callbacks_;
  std::chrono::milliseconds patience_;
  std::vector<std::byte> buffer_;
  // In the order in which they were sent, which is that of the answers. Shared by the call and by
  // this, which still has to take the answer of one that was given up.
  std::deque<std::shared_ptr<Call>> calls_;
  bool lost_ = false;
};

// Its link lives as long as it is heard.
asio::awaitable<void> hear(std::shared_ptr<BrokerOwner> owner);

}  // namespace cordon::node
