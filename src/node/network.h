// SPDX-License-Identifier: Apache-2.0
// The network of one sandbox, from the node's side: its egress is told the policy, heard, and told
// again after a death.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "frame/egress.h"
#include "os/fd.h"

namespace cordon::node {

// What an egress tells of a sandbox.
struct NetworkEars {
  std::function<void(const frame::NetRefused&)> refused;
  std::function<void(std::span<const frame::NetUsed>)> used;  // as they happened
  std::function<void(std::uint64_t)> sent{};                  // bytes, in all
};

class Network {
 public:
  // Gives a link to a running egress, started where there is none.
  using Open = std::function<async::Task<os::Fd>()>;

  Network(asio::any_io_executor executor, Open open, frame::Serve serve, NetworkEars ears)
      : executor_{std::move(executor)},
        open_{std::move(open)},
        serve_{std::move(serve)},
        ears_{std::move(ears)} {}

  // Before the launch: returns when the egress knows what the sandbox may reach.
  async::Task<frame::Serving> start();

  // What the sandbox may reach from now on, in place of what it could: `serve` is for the same
  // sandbox. Returns when the egress holds to it, or to a later one: every new connection and
  // request is judged by it, and what was open and is not allowed any more is closed. For this
  // keep() runs. It narrows: where `serve` has requests judged of a name whose requests were not
  // judged at the start, that name is refused, since the authority inside does not speak for it.
  //
  // An Error: the egress has refused it, and the sandbox reaches nothing; or it has not answered,
  // and holds to it before it serves anything else, since a dead one is replaced by one that is
  // told nothing else.
  async::Task<void> change(frame::Serve serve);

  // Brings the egress a way to the broker of the sandbox's credentials.
  async::Task<void> use_broker(os::Fd socket);
  // Called whenever an egress was replaced and told the policy.
  void when_replaced(std::function<async::Task<void>()> act) { replaced_ = std::move(act); }

  // Hears the egress for as long as the sandbox lives, and replaces one that has died: the sandbox
  // has no network meanwhile. Ends when it is cancelled.
  asio::awaitable<void> keep();

  // After the sandbox's end: takes what the egress has said until then.
  void drain();

 private:
  Status send_policy();
  async::Task<frame::EgressToNode> receive();
  Result<frame::EgressToNode> read_one();
  void hear(frame::EgressToNode message);
  // All that is there; false: the egress has ended.
  bool hear_waiting();
  void tell_uses();

  asio::any_io_executor executor_;
  Open open_;
  frame::Serve serve_;
  NetworkEars ears_;
  std::function<async::Task<void>()> replaced_;
  std::uint64_t generation_ = 0;  // of the policy that was sent last
  // To the newest that was answered, with its generation.
  std::uint64_t answered_generation_ = 0;
  std::optional<Result<frame::Serving>> answer_;
  os::Fd link_;
  std::vector<std::byte> buffer_;  // for one message
  std::vector<frame::NetUsed> uses_;
};

}  // namespace cordon::node
