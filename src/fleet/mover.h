// SPDX-License-Identifier: Apache-2.0
// Has a sandbox go on at another node, under the name that it has. Its order is the argument:
//
//  1 the node that has it holds it: nothing of it changes, and it says all that it is
//  2 the other one makes the same of it, hidden
//  3 files go from one to the other
//  4 one write to etcd says where it is
//  5 the node that had it ends its own. Whether it has left is decided there, and written, by this
//  6 the other one lets it be found
//
// What fails before 4 is undone. Behind it every gateway goes on with 5 and 6, whoever has begun;
// and where 5 is refused takes the write back: the sandbox has not left then, and never will by
// this move.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "base/id.h"
#include "etcd/client.h"
#include "fleet/moved.h"
#include "fleet/nodes.h"
#include "fleet/purses.h"
#include "fleet/reissue.h"
#include "wire/problem_answer.h"

namespace cordon::fleet {

// Used from the loop's thread only.
class Mover {
 public:
  // All outlive it.
  struct Parts {
    etcd::Client& all;  // of all cells
    Nodes& nodes;
    Purses& purses;
    Reissue& reissue;
    Moved& moved;
    const Clock& clock;
  };
  explicit Mover(Parts parts) : parts_{parts} {}
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  // What it has begun goes on in `scope`, which ends before this does.
  void live_in(async::Scope& scope) { scope_ = &scope; }

  struct Report {
    NodeId from;
    NodeId to;
    std::uint64_t bytes = 0;  // of archives
    std::chrono::milliseconds took{};
  };
  using Refusal = std::optional<wire::ProblemAnswer>;
  using Outcome = std::variant<Report, wire::ProblemAnswer>;
  // Without `to`: to one with room, of the same cell where there is one. It goes on to its end
  // where its caller is cancelled.
  async::Task<Outcome> move(SandboxId id, std::optional<NodeId> to);

  // Steps 5 and 6 of what etcd says of it, unless somebody is at it here already.
  void finish_later(const std::string& sandbox);
  // The same, of one that may long be where it is: within a minute or two, with all others that
  // were there before us.
  void look_again(const std::string& sandbox);
  // What etcd says of those that live lasts as long as they do, however often somebody has them
  // live on. Until it is cancelled.
  asio::awaitable<void> keep();

 private:
  struct Journey {
    std::string sandbox;
    Passage passage;        // where to is known from step 2 on
    std::string tenant;     // as the node says it, as are these
    std::string traveller;  // for the other node
    std::vector<std::string> paths;
    std::chrono::seconds life{};  // the longest that it may have
    etcd::Revision known = 0;     // of the key that says where it is now; 0: there is none
    etcd::LeaseId lease = etcd::LeaseId::none;
    std::uint64_t bytes = 0;
    bool has_arrived = false;
    int hops = 0;  // nodes that it was asked of and had left
  };
  async::Task<Outcome> move_now(SandboxId id, std::optional<NodeId> to);
  async::Task<Outcome> move_on(Journey& journey, std::optional<NodeId> to);
  async::Task<Refusal> leave(Journey& journey);
  async::Task<Refusal> arrive(Journey& journey, std::optional<NodeId> wanted);
  async::Task<Refusal> arrive_at(Journey& journey, NodeId to, bool& has_no_room);

  // mover_files.cc: step 3.
  async::Task<Refusal> copy_all(Journey& journey);
  async::Task<void> copy_paths(Journey& journey);
  async::Task<std::uint64_t> copy_tree(const Journey& journey, std::string path);
  // Ends where one of them does not go along any more.
  asio::awaitable<void> keep_awake(const Journey& journey);

  // mover_end.cc: step 4 and what is behind it.
  enum class Written : std::uint8_t { yes, no, unknown };
  async::Task<Written> write(Journey& journey);
  async::Task<Written> read_back(const Journey& journey);
  asio::awaitable<void> settle_unknown(Journey journey);
  async::Task<void> undo(const Journey& journey);
  enum class Finished : std::uint8_t { done, stayed, unknown };
  async::Task<Finished> finish(std::string sandbox, Passage passage);
  async::Task<bool> take_back(std::string sandbox, Passage passage);
  enum class There : std::uint8_t { lives, arrives, gone, unknown };
  async::Task<There> there_is(NodeId node, std::string sandbox);
  // Unless another move has written since. False: not known.
  async::Task<bool> remove(std::string sandbox, Passage passage);
  async::Task<void> renew(std::string sandbox);
  asio::awaitable<void> finish_by_and_by(std::string sandbox);
  asio::awaitable<void> finish_after(std::chrono::milliseconds pause, std::string sandbox);

  async::Task<Nodes::Answer> ask(NodeId node, Nodes::Question question, std::chrono::seconds limit);
  // Of a step at a node: good below 300.
  async::Task<Nodes::Answer> ask_step(NodeId node, std::string method, std::string path);

  Parts parts_;
  async::Scope* scope_ = nullptr;
  std::set<std::string, std::less<>> busy_;  // sandboxes that somebody here is at
};

inline constexpr int kLastGood = 299;  // of statuses
inline constexpr int kNotFound = 404;
// The paths of steps at nodes.
std::string departure_path(std::string_view sandbox, std::string_view step, std::string_view move);
std::string arrival_path(std::string_view sandbox, std::string_view step, std::string_view move);
// Why a node refuses, in its words.
wire::ProblemAnswer not_moved(int status, std::string_view why);
wire::ProblemAnswer refused_by(NodeId node, const Nodes::Answer& answer);

}  // namespace cordon::fleet
