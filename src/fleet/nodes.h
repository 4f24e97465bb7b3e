// SPDX-License-Identifier: Apache-2.0
// The nodes behind a gateway: which there are, how they are, and the ways to them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "fleet/node_answer.h"
#include "fleet/node_id.h"
#include "fleet/node_link.h"
#include "fleet/reissue.h"
#include "fleet/roster.h"
#include "http/head.h"

namespace cordon::fleet {

// Used from the loop's thread only.
class Nodes {
 public:
  struct Rules {
    Members::Rules members{};
    std::chrono::milliseconds probe{2'000};     // a node that has not answered for so long is asked
    std::chrono::milliseconds patience{3'000};  // for its answer
    std::chrono::seconds save{10};              // between two copies of the map
  };
  // A map to be kept for the next start.
  using Save = std::function<void(std::string map)>;

  // All outlive it.
  Nodes(LinkHouse& house, Reissue& reissue, const Clock& clock, Rules rules,
        Placement::Random random, Save save);
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  // Follows `cell` in its etcd. Ends only with an error that does not pass, or cancelled.
  async::Task<void> follow_cell(etcd::Client& client, std::uint16_t cell);
  // Asks those that were not heard of, and declares the dead. In `scope`; until it is cancelled.
  asio::awaitable<void> keep(async::Scope& scope);

  // The map of an earlier start, before all else is heard.
  void restore(std::string_view map) { roster_.restore(map, clock_.ticks()); }

  Roster& roster() noexcept { return roster_; }
  const Roster& roster() const noexcept { return roster_; }
  std::optional<Standing> standing(NodeId node) const {
    return roster_.standing(node, clock_.ticks());
  }
  // Known for so long that every gateway knows it: whoever asks again asks it again.
  bool is_settled(NodeId node) const;

  // A connection to it. `not_found`: there is no such node. `unavailable`, `timeout`: it does not
  // answer, and nothing was sent.
  async::Task<std::unique_ptr<NodeConnection>> connect(NodeId node);
  void give_back(NodeId node, std::unique_ptr<http::FarEnd> connection);
  // It has answered with these fields, of which its gauge is taken.
  void heard(NodeId node, http::Fields& fields);
  // It was told to take nothing new, or to go on: believed until it says otherwise itself.
  void drains(NodeId node, bool is_draining);
  void silent(NodeId node);

  // One request of the gateway's own, whole, by its own right.
  struct Answer {
    int status = 0;
    http::Fields fields;
    std::string body;
  };
  using Question = OwnQuestion;  // without fields: by our own right
  async::Task<Answer> ask(NodeId node, Question question);
  // The same for an answer that is read as it comes (node_answer.h). `to` outlives it.
  async::Task<void> send(NodeConnection& to, NodeId node, Question question);

 private:
  // So long a retry of a client may come after the first try.
  static constexpr std::chrono::minutes kSettled{5};

  NodeLink& link_of(NodeId node);
  asio::awaitable<void> probe(NodeId node);
  void take_state(NodeId node, const std::string& body);
  void save_map(Ticks now);

  LinkHouse& house_;
  Reissue& reissue_;
  const Clock& clock_;
  Rules rules_;
  Save save_;
  Roster roster_;
  std::map<NodeId, std::unique_ptr<NodeLink>> links_;
  std::map<NodeId, Ticks> heard_at_;
  std::map<NodeId, Ticks> joined_at_;
  std::map<NodeId, bool> is_probed_;
  Ticks started_;
  Ticks saved_at_{};
  std::string saved_;
};

// "3 17 1000 990": start, number of the saying, slots, free ones. Nothing: it is none.
std::optional<Gauge> gauge_from(std::string_view text);

}  // namespace cordon::fleet
