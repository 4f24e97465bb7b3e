// SPDX-License-Identifier: Apache-2.0
// What the gateway answers itself: how it is, which nodes there are, what was taken back.
#include <algorithm>
#include <array>
#include <charconv>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "async/deadline.h"
#include "fleet/gateway.h"
#include "gate/revoking.h"
#include "policy/problem.h"
#include "token/operation.h"
#include "wire/json_writer.h"
#include "wire/requests.h"

namespace cordon::fleet {
namespace {

using token::Operation;

constexpr std::string_view kFleetNodes = "/v1/fleet/nodes";
constexpr std::chrono::seconds kActWithin{10};

std::string_view to_string(Standing standing) {
  switch (standing) {
    case Standing::placeable:
      return "placeable";
    case Standing::kept:
      return "kept";
    case Standing::dead:
      return "dead";
  }
  return "dead";
}

void write_node_fields(wire::JsonWriter& json, const Nodes& nodes, NodeId node) {
  const Summary* const said = nodes.roster().summary(node);
  const Standing standing = nodes.standing(node).value_or(Standing::dead);
  json.number("cell", std::uint64_t{node.cell});
  json.number("node", std::uint64_t{node.node});
  json.text("address", said->address);
  json.text("standing", to_string(standing));
  json.boolean("has_lease", nodes.roster().has_lease(node));
  json.number("start", std::uint64_t{said->gauge.at.epoch});
  json.number("slots", std::uint64_t{said->gauge.slots});
  json.number("free", std::uint64_t{nodes.roster().free_of(node)});
  json.boolean("draining", said->is_draining);
  json.number("release", said->release);
  if (said->refused != 0) json.number("refused_release", said->refused);
}

void write_node(wire::JsonWriter& json, const Nodes& nodes, NodeId node) {
  json.begin_object();
  write_node_fields(json, nodes, node);
  json.end_object();
}

// What a node says of itself that its gauge does not: one that drains has nothing free there.
struct Own {
  std::uint64_t sandboxes = 0;
  bool is_draining = false;
};

std::uint64_t count_at(const boost::json::object& of, std::string_view name) {
  const auto* const found = of.if_contains(name);
  boost::system::error_code error;
  const auto count = found == nullptr ? 0 : found->to_number<std::uint64_t>(error);
  return error ? 0 : count;
}

std::optional<Own> read_own(const std::string& body) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(body, error);
  const auto* const object = error ? nullptr : value.if_object();
  if (object == nullptr) return std::nullopt;
  const auto* const draining = object->if_contains("draining");
  if (draining == nullptr || !draining->is_bool()) return std::nullopt;
  const std::uint64_t slots = count_at(*object, "slots");
  const std::uint64_t free = count_at(*object, "free");
  // A slot is taken before the sandbox is there.
  return Own{.sandboxes = std::max(count_at(*object, "sandboxes"), slots > free ? slots - free : 0),
             .is_draining = draining->get_bool()};
}

// `nodes` are in their order.
void write_cells(wire::JsonWriter& json, const Roster& roster, const std::vector<NodeId>& nodes) {
  json.key("cells");
  json.begin_array();
  std::optional<std::uint16_t> last;
  for (const NodeId node : nodes) {
    if (last == node.cell) continue;
    last = node.cell;
    json.begin_object();
    json.number("cell", std::uint64_t{node.cell});
    json.boolean("frozen", roster.is_frozen(node.cell));
    json.end_object();
  }
  json.end_array();
}

void gauge_line(std::string& text, std::string_view name, std::string_view kind,
                std::string_view help, std::uint64_t value) {
  text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, kind, value);
}

}  // namespace

async::Task<void> Gateway::health(Asked& asked) {
  const bool is_draining = asked.exchange.is_draining();
  wire::JsonWriter json;
  json.begin_object();
  json.text("status", is_draining ? "draining" : "serving");
  json.text("version", CORDON_VERSION);
  json.end_object();
  co_return co_await answer_json(asked, is_draining ? 503 : 200, json.take());
}

namespace {

constexpr std::string_view kDepartures = "/v1/node/departures";
constexpr std::string_view kArrivals = "/v1/node/arrivals";

// What is asked of the fleet itself, and what only a node by itself has. The first that fits.
struct OwnRow {
  std::string_view method;
  std::string_view path;
  Operation operation;
  async::Task<void> (Gateway::*answer)(Asked& asked);
  bool is_below = false;  // what begins with the path
};

}  // namespace

async::Task<void> Gateway::own(Asked& asked) {
  static constexpr std::array kOwn = {
      OwnRow{"GET", "/metrics", Operation::metrics_read, &Gateway::metrics},
      OwnRow{"GET", "/v1/node", Operation::node_read, &Gateway::whole},
      // Steps of a move, of which each is asked of one node: docs/fleet.md has the move.
      OwnRow{"POST", kDepartures, Operation::sandbox_move, &Gateway::names_no_node, true},
      OwnRow{"GET", kDepartures, Operation::sandbox_move, &Gateway::names_no_node, true},
      OwnRow{"DELETE", kDepartures, Operation::sandbox_move, &Gateway::names_no_node, true},
      OwnRow{"POST", kArrivals, Operation::sandbox_move, &Gateway::names_no_node, true},
      OwnRow{"PUT", kArrivals, Operation::sandbox_move, &Gateway::names_no_node, true},
      OwnRow{"DELETE", kArrivals, Operation::sandbox_move, &Gateway::names_no_node, true},
      OwnRow{"POST", "/v1/node/", Operation::node_drain, &Gateway::names_no_node, true},
      OwnRow{"GET", "/v1/node/census", Operation::node_configure, &Gateway::names_no_node},
      OwnRow{"PUT", "/v1/node/policy", Operation::node_configure, &Gateway::has_one_policy},
      OwnRow{"DELETE", "/v1/node/policy", Operation::node_configure, &Gateway::has_one_policy},
      OwnRow{"GET", kFleetNodes, Operation::node_read, &Gateway::fleet_nodes},
      OwnRow{"GET", "/v1/fleet/nodes/", Operation::node_read, &Gateway::fleet_node, true},
      OwnRow{"POST", "/v1/fleet/nodes/", Operation::node_drain, &Gateway::change_node, true},
      OwnRow{"POST", "/v1/fleet/moves", Operation::sandbox_move, &Gateway::move_sandbox},
      OwnRow{"GET", "/v1/fleet/policy", Operation::node_read, &Gateway::fleet_policy},
      OwnRow{"GET", "/v1/fleet/policy/", Operation::node_read, &Gateway::policy_text, true},
      OwnRow{"PUT", "/v1/fleet/policy", Operation::node_configure, &Gateway::push_policy},
      OwnRow{"POST", "/v1/fleet/policy/", Operation::node_configure, &Gateway::move_policy, true},
      OwnRow{"GET", "/v1/fleet/quotas", Operation::node_read, &Gateway::quotas},
      OwnRow{"GET", "/v1/fleet/quotas/", Operation::node_read, &Gateway::quota, true},
      OwnRow{"PUT", "/v1/fleet/quotas/", Operation::node_configure, &Gateway::set_quota, true},
      OwnRow{"DELETE", "/v1/fleet/quotas/", Operation::node_configure, &Gateway::remove_quota,
             true},
      OwnRow{"POST", "/v1/tokens/revoke", Operation::token_revoke, &Gateway::revoke},
      OwnRow{"POST", "/v1/keys", Operation::key_create, &Gateway::has_no_keys},
      OwnRow{"GET", "/v1/keys", Operation::key_list, &Gateway::has_no_keys},
      OwnRow{"DELETE", "/v1/keys/", Operation::key_delete, &Gateway::has_no_keys, true},
  };
  const http::RequestHead& head = asked.exchange.head();
  const std::string_view path = head.target.path;
  for (const OwnRow& row : kOwn) {
    const bool fits = row.is_below ? path.starts_with(row.path) : path == row.path;
    if (!fits || row.method != head.method) continue;
    const bool is_of_nodes = token::row_of(row.operation).reach == token::Reach::node;
    const token::Query query{.operation = row.operation,
                             .tenant = is_of_nodes ? std::string_view{} : asked.tenant};
    const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
    const token::Answer may = asked.bearer.authority.may(query, now);
    if (!may) co_return Error{Errc::denied, may.words};
    co_return co_await (this->*row.answer)(asked);
  }
  co_return co_await answer_problem(
      asked, {.status = 404,
              .code = "CORDON-API-NO-ROUTE",
              .detail = "a gateway has nothing at this path, or not with this method",
              .remedy = "see docs/fleet.md for what is asked of a node, not of the fleet"});
}

async::Task<void> Gateway::has_no_keys(Asked& asked) {
  co_return co_await answer_problem(
      asked, {.status = 501,
              .code = "CORDON-FLEET-NO-KEYS",
              .detail = "API keys are kept by the node that makes them, and a fleet has many",
              .remedy = "use a token, which every gateway knows; `cordon token mint --e2b` prints "
                        "one as a key"});
}

async::Task<void> Gateway::names_no_node(Asked& asked) {
  co_return co_await answer_problem(
      asked, {.status = 400,
              .code = "CORDON-API-INVALID",
              .detail = "a fleet has many nodes, and this names none",
              .remedy = "POST /v1/fleet/nodes/CELL.NODE/drain, or `cordon node drain`; to move a "
                        "sandbox POST /v1/fleet/moves, or `cordon fleet move`"});
}

async::Task<void> Gateway::whole(Asked& asked) {
  std::uint64_t slots = 0;
  std::uint64_t free = 0;
  const std::vector<NodeId> nodes = living();
  for (const NodeId node : nodes) {
    slots += parts_.nodes.roster().summary(node)->gauge.slots;
    free += parts_.nodes.roster().free_of(node);
  }
  wire::JsonWriter json;
  json.begin_object();
  json.text("name", "fleet");
  json.text("version", CORDON_VERSION);
  json.number("nodes", std::uint64_t{nodes.size()});
  json.number("slots", slots);
  json.number("free", free);
  json.number("sandboxes", slots > free ? slots - free : 0);
  json.end_object();
  co_return co_await answer_json(asked, 200, json.take());
}

async::Task<void> Gateway::fleet_nodes(Asked& asked) {
  wire::JsonWriter json;
  json.begin_object();
  json.key("nodes");
  json.begin_array();
  const std::vector<NodeId> all = parts_.nodes.roster().all();
  for (const NodeId node : all) write_node(json, parts_.nodes, node);
  json.end_array();
  write_cells(json, parts_.nodes.roster(), all);
  json.number("revocations", std::uint64_t{parts_.revoked.size()});
  json.number("moved", std::uint64_t{parts_.moved.size()});
  json.end_object();
  co_return co_await answer_json(asked, 200, json.take());
}

namespace {

struct Below {
  std::string_view node;  // "7.42"
  std::string_view act;   // "drain"; empty: none
};

// Of /v1/fleet/nodes/7.42/drain
Below below_nodes(std::string_view path) {
  path.remove_prefix(kFleetNodes.size() + 1);
  const std::string_view node = path.substr(0, path.find('/'));
  return {.node = node, .act = node.size() < path.size() ? path.substr(node.size() + 1) : ""};
}

Result<NodeId> known_node(const Nodes& nodes, std::string_view name) {
  const auto node = node_named(name);
  if (node && nodes.roster().summary(*node) != nullptr) return *node;
  return Error{Errc::not_found, fmt::format("there is no node {}", name)};
}

}  // namespace

// /v1/fleet/nodes/7.42
async::Task<void> Gateway::fleet_node(Asked& asked) {
  const Below below = below_nodes(asked.exchange.head().target.path);
  CO_TRY(const NodeId node, known_node(parts_.nodes, below.node));
  if (below.act == "sandboxes") co_return co_await sandboxes_of_node(asked, node);
  if (!below.act.empty()) {
    co_return Error{Errc::not_found, "of a node: sandboxes, and by POST drain and resume"};
  }
  Nodes::Question question{.method = "GET", .path = "/v1/node", .fields = {}, .body = {}};
  co_return co_await answer_of_node(asked, node, std::move(question));
}

// /v1/fleet/nodes/7.42/drain
async::Task<void> Gateway::change_node(Asked& asked) {
  const Below below = below_nodes(asked.exchange.head().target.path);
  CO_TRY(const NodeId node, known_node(parts_.nodes, below.node));
  if (below.act != "drain" && below.act != "resume") {
    co_return Error{Errc::not_found, "of a node: drain and resume"};
  }
  Nodes::Question question{
      .method = "POST", .path = fmt::format("/v1/node/{}", below.act), .fields = {}, .body = {}};
  co_return co_await answer_of_node(asked, node, std::move(question));
}

async::Task<void> Gateway::answer_of_node(Asked& asked, NodeId node, Nodes::Question question) {
  CO_TRY(question.fields, rights_for(asked, node));
  const auto answer =
      co_await async::within(kActWithin, parts_.nodes.ask(node, std::move(question)));
  if (!answer) co_return co_await answer_problem(asked, node_away(node, answer.error().text()));
  if (answer->status >= 300) {
    co_return co_await asked.exchange.answer(
        answer->status, {{"Content-Type", "application/problem+json"}}, answer->body);
  }
  const auto own = read_own(answer->body);
  // Before its own word comes round, so that whoever asks next is told what was done.
  if (own) parts_.nodes.drains(node, own->is_draining);
  wire::JsonWriter json;
  json.begin_object();
  write_node_fields(json, parts_.nodes, node);
  if (own) json.number("sandboxes", own->sandboxes);
  json.end_object();
  co_return co_await answer_json(asked, 200, json.take());
}

async::Task<void> Gateway::metrics(Asked& asked) {
  std::map<Standing, std::uint64_t> standings;
  for (const NodeId node : parts_.nodes.roster().all()) {
    ++standings[parts_.nodes.standing(node).value_or(Standing::dead)];
  }
  std::string text;
  gauge_line(text, "cordon_fleet_nodes_placeable", "gauge", "Nodes that take new sandboxes.",
             standings[Standing::placeable]);
  gauge_line(text, "cordon_fleet_nodes_kept", "gauge", "Nodes that take nothing new.",
             standings[Standing::kept]);
  gauge_line(text, "cordon_fleet_nodes_dead", "gauge", "Nodes whose sandboxes are lost.",
             standings[Standing::dead]);
  gauge_line(text, "cordon_fleet_revocations", "gauge", "Tokens that were taken back.",
             parts_.revoked.size());
  gauge_line(text, "cordon_fleet_moved", "gauge", "Sandboxes that are not where they were made.",
             parts_.moved.size());
  gauge_line(text, "cordon_gateway_requests_total", "counter", "Requests.", counts_.requests);
  gauge_line(text, "cordon_gateway_creates_total", "counter", "Creates and runs.", counts_.creates);
  gauge_line(text, "cordon_gateway_retries_full_total", "counter",
             "Creates that another node was asked for, because one had no room.",
             counts_.retries_full);
  gauge_line(text, "cordon_gateway_lost_total", "counter", "Answers of nodes that did not come.",
             counts_.lost);
  gauge_line(text, "cordon_gateway_lists_by_index_total", "counter",
             "Parts of lists that the index of a cell has answered.", counts_.lists_by_index);
  gauge_line(text, "cordon_gateway_units_asked_total", "counter",
             "Questions to indexes for units of quotas.", parts_.purses.asked());
  const http::ServerCounts server = parts_.server();
  gauge_line(text, "cordon_http_connections", "gauge", "Connections that are open now.",
             server.connections);
  gauge_line(text, "cordon_http_accepted_total", "counter", "Connections that were accepted.",
             server.accepted);
  gauge_line(text, "cordon_http_turned_away_total", "counter", "Connections beyond what is held.",
             server.turned_away + server.over_address);
  gauge_line(text, "cordon_http_refused_total", "counter", "Heads and bodies that were refused.",
             server.refused_heads + server.late_heads + server.refused_bodies);
  gauge_line(text, "cordon_http_failed_total", "counter", "Requests that no handler answered.",
             server.failed_handlers);
  co_return co_await asked.exchange.answer(
      200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, std::move(text));
}

async::Task<void> Gateway::revoke(Asked& asked) {
  CO_TRY(const std::string body, co_await asked.exchange.read_body(wire::kLargestRequest));
  policy::Problems problems{"request"};
  CO_TRY(const wire::RevokeRequest request,
         wire::read_revoke_request(body.empty() ? "{}" : body, problems));
  CO_TRY(const gate::Query query, query_of(asked));
  CO_TRY_DO(gate::only_known(query, {"id", "seconds"}));
  CO_TRY(const gate::TakenBack taken, gate::taken_back(parts_.gate, {.asks = asked.bearer,
                                                                     .token = request.token,
                                                                     .query = query,
                                                                     .now = parts_.clock.wall()}));
  if (!parts_.revoked.has(taken.id) && !taken.tenant.empty() &&
      !parts_.revoked.has_room_for(taken.tenant)) {
    co_return Error{Errc::exhausted,
                    "the tenant has taken back as many tokens as are remembered; take back the one "
                    "that they were made of"};
  }
  CO_TRY_DO(
      co_await parts_.spread.revoke({.id = taken.id,
                                     .until = std::chrono::ceil<std::chrono::seconds>(taken.until),
                                     .tenant = taken.tenant}));
  co_return co_await asked.exchange.answer(204, {}, {});
}

}  // namespace cordon::fleet
