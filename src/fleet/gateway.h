// SPDX-License-Identifier: Apache-2.0
// The API of many nodes as one: finds who asks, where the request belongs, and passes it there
// under a right of that node. It keeps nothing of a sandbox.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "async/task.h"
#include "base/clock.h"
#include "fleet/in_flight.h"
#include "fleet/indexes.h"
#include "fleet/moved.h"
#include "fleet/mover.h"
#include "fleet/nodes.h"
#include "fleet/policy_desk.h"
#include "fleet/purses.h"
#include "fleet/reissue.h"
#include "fleet/revoked.h"
#include "fleet/spread.h"
#include "fleet/way.h"
#include "gate/gate.h"
#include "gate/query.h"
#include "http/exchange.h"
#include "http/forward.h"
#include "http/server_limits.h"
#include "wire/problem_answer.h"

namespace cordon::fleet {

// One request whose bearer is known.
struct Asked {
  http::Exchange& exchange;
  Way way;
  gate::Bearer bearer{token::Authority{false}};
  std::string tenant;                    // whose things are meant; empty: an operator's, of all
  std::optional<http::Target> target{};  // as a node gets it, where it is not what was sent
};

// Used from the loop's thread only.
class Gateway {
 public:
  // All outlive it.
  struct Parts {
    Nodes& nodes;
    Indexes& indexes;
    Purses& purses;
    etcd::Client& all;  // the etcd of all cells
    Reissue& reissue;
    const Revoked& revoked;
    Moved& moved;
    Mover& mover;
    Spread& spread;
    PolicyDesk& policy;
    const gate::Gate& gate;
    const std::vector<std::string>& origins;
    const Clock& clock;
    std::function<http::ServerCounts()> server;
  };
  Gateway(const asio::any_io_executor& executor, Parts parts)
      : executor_{executor}, parts_{std::move(parts)} {}

  async::Task<void> handle(http::Exchange& exchange);

  // What it has done since its start.
  struct Counts {
    std::uint64_t requests = 0;
    std::uint64_t creates = 0;
    std::uint64_t retries_full = 0;    // asked of another node because one had no room
    std::uint64_t lost = 0;            // answers that did not come
    std::uint64_t lists_by_index = 0;  // parts of lists that an index has answered
  };
  const Counts& counts() const noexcept { return counts_; }

 private:
  async::Task<void> serve(Asked& asked);
  async::Task<void> serve_counted(Asked& asked);
  async::Task<void> serve_by_way(Asked& asked);
  async::Task<void> serve_while_valid(Asked& asked);
  asio::awaitable<void> until_invalid(const Asked& asked);
  bool is_invalid(const Asked& asked) const;

  // As the node gets it.
  Result<http::RequestHead> head_for(const Asked& asked, NodeId node);
  Result<http::Fields> rights_for(const Asked& asked, NodeId node);
  http::Forward::Rules rules_for(NodeId node);

  // To one node, with the body that the client sends. Of one that says that it has the sandbox no
  // more: its answer, which nobody has heard.
  using Withheld = std::optional<http::Forward::Withheld>;
  async::Task<Withheld> pass_on(Asked& asked, NodeId node, bool is_of_sandbox);
  async::Task<void> pass_to(Asked& asked, NodeId node);
  async::Task<void> to_sandbox(Asked& asked);
  // Where it is, by its name and what is known of those that were moved; nothing: nobody made it.
  std::optional<NodeId> node_of(const SandboxId& id) const;
  // What a node says of one that it has no more, or not yet: the node that has it, or nothing.
  std::optional<NodeId> follow(const Asked& asked, const http::ResponseHead& said);
  async::Task<void> anywhere(Asked& asked);
  async::Task<void> to_home(Asked& asked);
  async::Task<void> to_named(Asked& asked);

  // create.cc
  async::Task<void> create(Asked& asked);
  struct Tried {
    std::vector<NodeId> nodes;
    std::optional<wire::ProblemAnswer> refusal;  // of the last that had no room
    bool is_final = false;                       // no other may be asked
    // Of a tenant with a quota: by what the next one is counted, and whether it was used.
    std::optional<wire::Unit> unit{};
    bool is_unit_used = false;
    bool is_unit_void = false;  // the node does not take it
    // Why there is no unit: nothing new is made, what an earlier request has made is given.
    std::optional<wire::ProblemAnswer> without_unit{};
  };
  // In which order to try, for a request that may come again; empty: as there is room.
  std::vector<NodeId> order_for(const Asked& asked) const;
  // True: it was answered.
  async::Task<bool> try_create(Asked& asked, NodeId node, const std::string& body, Tried& tried);
  // quota_create.cc: as above for a tenant with a quota, in one of whose cells a unit is taken.
  async::Task<bool> try_within_quota(Asked& asked, NodeId node, const std::string& body,
                                     Tried& tried);
  async::Task<bool> try_by_unit(Asked& asked, NodeId node, const std::string& body, Tried& tried);
  async::Task<bool> try_in_cell(Asked& asked, std::uint16_t cell, const std::string& body,
                                Tried& tried);
  async::Task<void> create_within_quota(Asked& asked, const std::string& body,
                                        const std::vector<NodeId>& order);

  // gather.cc
  // One of those who ask `nodes` at once for the tenant; waits until there are few enough.
  // `exhausted`: there still are not after a while.
  async::Task<InFlight::One> gathering(const Asked& asked, std::size_t nodes);
  async::Task<void> list(Asked& asked);
  async::Task<void> list_e2b(Asked& asked);
  // Parts of a list, each of some nodes.
  struct Part {
    std::vector<NodeId> nodes;
    Result<Nodes::Answer> answer;
  };
  // By indexes where there are any, `of_index` as the path; and by the nodes that are left then.
  async::Task<std::vector<Part>> parts_of_list(Asked& asked, std::string path,
                                               std::string of_index);
  // index_parts.cc: what indexes answer, and in `left` the nodes whose part is still missing.
  async::Task<std::vector<Part>> parts_of_indexes(Asked& asked, std::string path,
                                                  std::vector<NodeId>& left);
  async::Task<void> to_all(Asked& asked);
  // events.cc
  async::Task<void> stream_events(Asked& asked);

  // own_answers.cc
  async::Task<void> own(Asked& asked);
  async::Task<void> health(Asked& asked);
  async::Task<void> fleet_nodes(Asked& asked);
  async::Task<void> fleet_node(Asked& asked);
  async::Task<void> change_node(Asked& asked);
  // Asks the node itself, and answers how it is by what it says.
  async::Task<void> answer_of_node(Asked& asked, NodeId node, Nodes::Question question);
  async::Task<void> whole(Asked& asked);
  async::Task<void> names_no_node(Asked& asked);
  async::Task<void> has_no_keys(Asked& asked);
  async::Task<void> has_one_policy(Asked& asked);
  async::Task<void> metrics(Asked& asked);
  async::Task<void> revoke(Asked& asked);
  // move_answers.cc
  async::Task<void> move_sandbox(Asked& asked);
  async::Task<void> sandboxes_of_node(Asked& asked, NodeId node);
  // quota_answers.cc
  async::Task<void> quotas(Asked& asked);
  async::Task<void> quota(Asked& asked);
  async::Task<void> set_quota(Asked& asked);
  async::Task<void> remove_quota(Asked& asked);

  // policy_answers.cc
  async::Task<void> fleet_policy(Asked& asked);
  async::Task<void> policy_text(Asked& asked);
  async::Task<void> push_policy(Asked& asked);
  async::Task<void> move_policy(Asked& asked);

  // Nodes that are asked about what they have: all but the dead.
  std::vector<NodeId> living() const;
  // Where a tenant's own things are kept: the same for every gateway as long as nodes stay.
  std::vector<NodeId> ranked(std::string_view what) const;

  asio::any_io_executor executor_;
  Parts parts_;
  Counts counts_;
  InFlight in_flight_;
};

// Connections to nodes that one tenant may have at once for what goes to all of them: for lists,
// and again for streams of events.
inline constexpr std::size_t kMostToAll = 2048;
inline std::size_t most_at_once(std::size_t nodes) {
  return std::max<std::size_t>(kMostToAll / std::max<std::size_t>(nodes, 1), 2);
}
// Nodes that are asked for one create, at most.
inline constexpr std::size_t kMostTries = 4;
inline constexpr std::string_view kIdempotencyField = "Idempotency-Key";
// Whose a new sandbox is: of an operator who names nobody, the tenant "default".
inline std::string owner_of(const Asked& asked) {
  return asked.tenant.empty() ? "default" : asked.tenant;
}
// None of the nodes has room.
wire::ProblemAnswer no_room();

async::Task<void> answer_json(Asked& asked, int status, std::string body);
Result<gate::Query> query_of(const Asked& asked);
// In the words of whoever asks.
async::Task<void> answer_problem(Asked& asked, const wire::ProblemAnswer& problem);
async::Task<void> answer_error(Asked& asked, const Error& error);

// Why nothing can be asked of a node.
wire::ProblemAnswer node_away(NodeId node, std::string_view why);
wire::ProblemAnswer node_dead(NodeId node);
// It was asked, and nobody knows what became of it.
wire::ProblemAnswer answer_lost(NodeId node, std::string_view why);

}  // namespace cordon::fleet
