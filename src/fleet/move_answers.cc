// SPDX-License-Identifier: Apache-2.0
// /v1/fleet/moves: a sandbox goes on at another node. For operators.
#include <algorithm>

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "async/deadline.h"
#include "fleet/gateway.h"
#include "policy/problem.h"
#include "policy/value.h"
#include "token/operation.h"
#include "wire/json_writer.h"
#include "wire/requests.h"

namespace cordon::fleet {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kNamesWithin{10};
constexpr std::size_t kMostPages = 1000;  // of a thousand each
constexpr std::size_t kLargestPage = std::size_t{4} << 20U;

struct MoveOrder {
  SandboxId sandbox;
  std::optional<NodeId> to;
};

Result<MoveOrder> read_order(std::string_view text) {
  const Error wrong{Errc::invalid,
                    "a move is {\"sandbox\": ID, \"to\": \"CELL.NODE\"}; without `to` it goes to "
                    "a node with room"};
  policy::Problems problems{"request"};
  const auto read = policy::read_json(text, problems);
  const policy::Value* const sandbox = read ? read->find("sandbox") : nullptr;
  const policy::Value* const to = read ? read->find("to") : nullptr;
  const std::size_t known = (sandbox != nullptr ? 1U : 0U) + (to != nullptr ? 1U : 0U);
  if (sandbox == nullptr || sandbox->text() == nullptr || read->table()->size() != known) {
    return wrong;
  }
  auto id = SandboxId::parse(*sandbox->text());
  if (!id) return Error{Errc::not_found, "there is no such sandbox"};
  MoveOrder order{.sandbox = *std::move(id), .to = {}};
  if (to == nullptr) return order;
  order.to = to->text() == nullptr ? std::nullopt : node_named(*to->text());
  if (!order.to) return wrong;
  return order;
}

std::string report_text(const std::string& sandbox, const Mover::Report& report) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("sandbox", sandbox);
  json.text("from", to_string(report.from));
  json.text("to", to_string(report.to));
  json.number("bytes", report.bytes);
  json.number("milliseconds", static_cast<std::uint64_t>(report.took.count()));
  json.end_object();
  return json.take();
}

}  // namespace

// Whose it is does not matter: nobody who is bound to a tenant has this right.
async::Task<void> Gateway::move_sandbox(Asked& asked) {
  CO_TRY(const std::string body, co_await asked.exchange.read_body(wire::kLargestRequest));
  CO_TRY(MoveOrder order, read_order(body));
  const std::string sandbox = order.sandbox.text();
  CO_TRY(const Mover::Outcome outcome,
         co_await parts_.mover.move(std::move(order.sandbox), order.to));
  if (const auto* const problem = std::get_if<wire::ProblemAnswer>(&outcome)) {
    co_return co_await answer_problem(asked, *problem);
  }
  co_return co_await answer_json(asked, 200,
                                 report_text(sandbox, std::get<Mover::Report>(outcome)));
}

// /v1/fleet/nodes/7.42/sandboxes: the names of what it has, by its own word.
async::Task<void> Gateway::sandboxes_of_node(Asked& asked, NodeId node) {
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  // As who asks for lists of all tenants has to have it.
  const token::Answer may = asked.bearer.authority.may(
      {.operation = token::Operation::sandbox_read, .tenant = asked.tenant}, now);
  if (!may) co_return Error{Errc::denied, may.words};
  wire::JsonWriter shown;
  shown.begin_object();
  shown.key("sandboxes");
  shown.begin_array();
  std::size_t pages = 0;
  for (std::string after;;) {
    if (++pages > kMostPages) {
      co_return co_await answer_problem(asked, node_away(node, "its list of sandboxes has no end"));
    }
    const std::string before = after;
    CO_TRY(http::Fields fields, rights_for(asked, node));
    Nodes::Question question{
        .path = "/v1/sandboxes?limit=1000" + (after.empty() ? "" : "&after=" + after),
        .fields = std::move(fields),
        .most = kLargestPage};
    const auto answer =
        co_await async::within(kNamesWithin, parts_.nodes.ask(node, std::move(question)));
    if (!answer) co_return co_await answer_problem(asked, node_away(node, answer.error().text()));
    boost::system::error_code error;
    const json::value said = json::parse(answer->body, error);
    const auto* const list =
        error || !said.is_object() ? nullptr : said.get_object().if_contains("sandboxes");
    if (answer->status != 200 || list == nullptr || !list->is_array()) {
      co_return co_await answer_problem(asked, node_away(node, "it does not say what it has"));
    }
    for (const json::value& row : list->get_array()) {
      const auto* const id = row.is_object() ? row.get_object().if_contains("id") : nullptr;
      if (id == nullptr || !id->is_string()) continue;
      const auto parsed = SandboxId::parse(id->get_string());
      if (!parsed || parsed->text() <= after) continue;
      after = parsed->text();
      // Whoever asks moves what is named: of what it does not have a node has nothing to say.
      if (node_of(*parsed) == node) shown.text(after);
    }
    if (!said.get_object().contains("next") || after == before) break;
  }
  shown.end_array();
  shown.end_object();
  co_return co_await answer_json(asked, 200, shown.take());
}

}  // namespace cordon::fleet
