// SPDX-License-Identifier: Apache-2.0
// A node's part in its fleet, played by a program beside it: says in etcd how the node is, tells
// the node what was taken back, and hands it the release of the fleet's policy that is meant for
// it. The node itself knows nothing of etcd.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "fleet/node_id.h"
#include "fleet/registration.h"
#include "fleet/revoked.h"
#include "fleet/rollout.h"
#include "fleet/summary.h"

namespace cordon::fleet {

// What a node says of itself: the answer of GET /v1/node.
struct NodeState {
  NodeId node;
  Summary summary;  // without its address
};
// `invalid`: it is none, or the node is no part of a fleet.
Result<NodeState> read_node_state(std::string_view body);

// Used from the loop's thread only.
class Registrar {
 public:
  struct Said {
    int status = 0;
    std::string body;
  };
  // One request to the node, as its operator. An error: it does not answer.
  struct Question {
    std::string method = "GET";
    std::string path;
    std::string body{};
  };
  using AskNode = std::function<async::Task<Said>(Question question)>;

  struct Rules {
    std::chrono::milliseconds look{500};  // between two looks at the node
    // A node that does not answer for so long takes nothing new, and for so long is let go of.
    std::chrono::seconds doubt{3};
    std::chrono::seconds gone{30};
    Registration::Rules registration{};
  };
  // All outlive it. `cell`: of the etcd of the node's cell; `all`: of that of all cells. `address`:
  // where gateways reach the node.
  struct Parts {
    etcd::Client& cell;
    etcd::Client& all;
    AskNode ask;
    std::string address;
    const Clock& clock;
    Rules rules{};
  };
  Registrar(const asio::any_io_executor& executor, Parts parts);
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  // Ends cancelled, or with `denied`: etcd refuses this identity; `invalid`: the node is no part of
  // a fleet.
  async::Task<void> run();

 private:
  static async::Task<void> run_in(async::Scope& scope, Registrar*& self);
  async::Task<NodeState> first_look();
  // One start of the node, to its end.
  async::Task<void> attend(NodeState state);
  struct Attended;
  static async::Task<void> attend_in(async::Scope& scope, Registrar*& self,
                                     std::unique_ptr<Attended>& attended);
  async::Task<NodeState> look();
  // Of one look. False: this start of the node has ended.
  bool took(const Result<NodeState>& seen, Registration& registration);

  // What the node says of the fleet's policy, and why it was not even asked to take a release.
  bool took_policy(const Summary& said);
  // Has the node take the release that is meant for it. What it refuses is not tried again in this
  // start of it. Without a rollout, and without etcd, it keeps what it has.
  asio::awaitable<void> hand_release();
  async::Task<std::string> text_of(Rollout rollout, std::uint64_t release);
  async::Task<void> give(Rollout rollout, std::uint64_t release);

  asio::awaitable<void> follow_policy();
  asio::awaitable<void> follow_revoked();
  void heard(std::span<const etcd::Event> events);
  asio::awaitable<void> tell();

  Parts parts_;
  Summary summary_;
  NodeId node_;
  Ticks answered_at_{};
  std::optional<Rollout> rollout_;
  std::optional<std::uint64_t> offered_;  // to this start of the node
  std::optional<Error> unfit_;            // why that could not be offered
  std::map<RevocationId, std::chrono::sys_seconds> untold_;
  asio::steady_timer news_;  // never fires: cancelled when there is something to tell
  std::optional<Error> refused_;
};

}  // namespace cordon::fleet
