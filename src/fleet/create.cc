// SPDX-License-Identifier: Apache-2.0
// New sandboxes: a node with room, and another where one has none.
#include <algorithm>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "fleet/gateway.h"
#include "http/connection.h"
#include "wire/requests.h"
#include "wire/unit.h"

namespace cordon::fleet {
namespace {

// With which a node says that it has begun nothing, because it has no room; or because what it was
// to be counted by does not hold there.
constexpr std::string_view kNoRoomField = "Cordon-No-Room";
constexpr std::string_view kVoid = "unit";

// Counts as sent there until the node has answered, or nobody waits for it any more.
class OnTheWay {
 public:
  OnTheWay(Roster& roster, NodeId node) : roster_{roster}, node_{node} { roster_.began(node_); }
  OnTheWay(const OnTheWay&) = delete;
  OnTheWay& operator=(const OnTheWay&) = delete;
  ~OnTheWay() { end(); }
  // Before the gauge of the answer is taken, which has it in it.
  void end() {
    if (!std::exchange(has_ended_, true)) roster_.ended(node_);
  }

 private:
  Roster& roster_;
  NodeId node_;
  bool has_ended_ = false;
};

// Which template a sandbox of E2B's is asked for; empty: one that every node has.
std::string template_in(const std::string& body) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(body, error);
  if (error || !value.is_object()) return {};
  const auto* const named = value.get_object().if_contains("templateID");
  if (named == nullptr || !named->is_string()) return {};
  const std::string name{named->get_string()};
  return name == "base" || name == "code-interpreter-v1" ? std::string{} : name;
}

}  // namespace

wire::ProblemAnswer no_room() {
  return {.status = 503,
          .code = "CORDON-FLEET-FULL",
          .detail = "no node that could be asked has room for another sandbox",
          .remedy = "end some, or send it again later"};
}

std::vector<NodeId> Gateway::order_for(const Asked& asked) const {
  const auto& allowances = asked.bearer.authority.allowances();
  if (!allowances.empty()) {
    // One account, so one node that counts.
    std::vector<NodeId> order = ranked("budget " + to_hex(allowances.front().account));
    if (order.size() > 1) order.resize(1);
    return order;
  }
  const auto key = http::only(asked.exchange.head().fields, kIdempotencyField);
  if (!key) return {};
  return ranked(fmt::format("key {} {}", asked.tenant, *key));
}

async::Task<bool> Gateway::try_create(Asked& asked, NodeId node, const std::string& body,
                                      Tried& tried) {
  tried.nodes.push_back(node);
  auto connection = co_await parts_.nodes.connect(node);
  // Nothing was sent: another may be asked.
  if (!connection) {
    tried.refusal = node_away(node, connection.error().text());
    // It may have made one before: with a key it is that one or none.
    tried.is_final = http::count(asked.exchange.head().fields, kIdempotencyField) != 0;
    co_return false;
  }
  CO_TRY(http::RequestHead inner, head_for(asked, node));
  if (tried.unit || tried.without_unit) {
    // One that holds nowhere: what was made by the same key before is given all the same.
    inner.fields.push_back(
        {std::string{wire::kUnitField}, wire::to_text(tried.unit.value_or(wire::Unit{}))});
  }
  http::Forward::Rules rules = rules_for(node);
  tried.is_unit_used = true;
  rules.withholds = [&tried](const http::ResponseHead& head) {
    // What a node refuses as it is said, it has not begun.
    if (head.status >= 400 && head.status < 500) tried.is_unit_used = false;
    return head.status == 503;
  };
  OnTheWay on_the_way{parts_.nodes.roster(), node};
  rules.outer_fields = [&on_the_way, pass = std::move(rules.outer_fields)](http::Fields fields) {
    on_the_way.end();
    return pass(std::move(fields));
  };
  http::Forward forward{executor_, asked.exchange, *std::move(connection), std::move(rules)};
  const Status passed = co_await forward.run(std::move(inner), body);
  on_the_way.end();
  parts_.nodes.give_back(node, forward.take_back());
  if (!passed) {
    asked.exchange.break_off();
    if (asked.exchange.is_answered()) co_return passed.error();
    ++counts_.lost;
    // Whether it was made nobody knows: another node would perhaps make a second one.
    wire::ProblemAnswer lost = answer_lost(node, passed.error().text());
    lost.remedy = "list what there is; or send an Idempotency-Key from the start, and ask again";
    CO_TRY_DO(co_await answer_problem(asked, lost));
    co_return true;
  }
  if (!forward.withheld()) co_return true;
  http::Fields fields = forward.withheld()->head.fields;
  parts_.nodes.heard(node, fields);
  const std::string& said = forward.withheld()->body;
  if (tried.without_unit) {
    tried.refusal = tried.without_unit;
    tried.is_final = true;
    co_return false;
  }
  if (http::count(fields, kNoRoomField) != 0) {
    tried.is_unit_used = false;
    tried.is_unit_void = http::only(fields, kNoRoomField) == kVoid;
    if (tried.is_unit_void) co_return false;
    ++counts_.retries_full;
    tried.refusal = no_room();
    co_return false;
  }
  http::strip_hop_by_hop(fields);
  http::remove_all_spellings(fields, "date");
  CO_TRY_DO(co_await asked.exchange.answer(503, std::move(fields), said));
  co_return true;
}

async::Task<void> Gateway::create(Asked& asked) {
  ++counts_.creates;
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  const token::Answer may = asked.bearer.authority.may(
      {.operation = token::Operation::sandbox_create, .tenant = asked.tenant}, now);
  if (!may && may.by == token::Refuser::operation) co_return Error{Errc::denied, may.words};
  CO_TRY(const std::string body, co_await asked.exchange.read_body(wire::kLargestRequest));
  std::vector<NodeId> order = order_for(asked);
  // What a tenant has built is where it was built.
  if (order.empty() && asked.way.is_e2b && !template_in(body).empty()) {
    order = ranked("home " + asked.tenant);
  }
  const bool is_ordered = !order.empty();
  // Whoever counts must be one and the same.
  if (!is_ordered && !asked.bearer.authority.allowances().empty()) {
    co_return co_await answer_problem(asked, no_room());
  }
  if (parts_.purses.ledger(owner_of(asked)) != nullptr) {
    co_return co_await create_within_quota(asked, body, order);
  }
  Tried tried;
  for (std::size_t at = 0; at < kMostTries; ++at) {
    std::optional<NodeId> node;
    if (!is_ordered) node = parts_.nodes.roster().choose("", tried.nodes);
    // What is believed may be old: the nodes have the last word.
    if (!is_ordered && !node) node = parts_.nodes.roster().choose_full(tried.nodes);
    if (is_ordered && at < order.size()) node = order[at];
    if (!node) break;
    CO_TRY(const bool was_answered, co_await try_create(asked, *node, body, tried));
    if (was_answered) co_return Status{};
    if (tried.is_final) break;
  }
  co_return co_await answer_problem(asked, tried.refusal.value_or(no_room()));
}

}  // namespace cordon::fleet
