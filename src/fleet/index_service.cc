// SPDX-License-Identifier: Apache-2.0
#include "fleet/index_service.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log.h"
#include "fleet/reissue.h"
#include "fleet/units_message.h"
#include "gate/query.h"
#include "token/caveat.h"
#include "wire/json_writer.h"
#include "wire/problem_answer.h"

namespace cordon::fleet {
namespace {

constexpr std::uint64_t kMostE2bRows = 20'000;
// For what a gateway has heard of and we have not: it is on the way to us too.
constexpr std::chrono::milliseconds kPatience{150};
// Turns of the loop in which what has come before a question is read before its answer is made.
constexpr int kTurns = 8;

async::Task<void> answer_problem(http::Exchange& exchange, const wire::ProblemAnswer& problem) {
  co_return co_await exchange.answer(problem.status, {{"Content-Type", "application/problem+json"}},
                                     wire::to_json(problem));
}

wire::ProblemAnswer waits() {
  return {.status = 503,
          .code = "CORDON-INDEX-STANDBY",
          .detail = "this index does not act: another one does, or none",
          .remedy = "ask the one that the cell's etcd names"};
}

// `label.NAME=VALUE`
std::map<std::string, std::string> labels_in(const gate::Query& query) {
  constexpr std::string_view kPrefix = "label.";
  std::map<std::string, std::string> labels;
  for (const auto& [name, value] : query) {
    if (name.starts_with(kPrefix)) labels.emplace(name.substr(kPrefix.size()), value);
  }
  return labels;
}

std::string value_of(const gate::Query& query, std::string_view name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string{} : found->second;
}

// A gateway has judged it before, and says whose things are meant.
Result<std::string> tenant_named(const http::RequestHead& head, const token::Authority& authority) {
  const auto named = http::only(head.fields, kTenantField);
  std::string tenant = authority.tenant().value_or(std::string{named.value_or("")});
  if (named && tenant != *named) {
    return Error{Errc::denied, fmt::format("{}: the token is of another tenant", kTenantField)};
  }
  return tenant;
}

// As a node answers, and which nodes are missing in it.
std::string whole_list(const Listed& listed, const std::vector<std::string>& unanswered) {
  std::string body = "{\"sandboxes\":[" + listed.rows + "]";
  if (!listed.last.empty()) body += fmt::format(R"(,"next":"{}")", listed.last);
  if (!unanswered.empty()) {
    body += fmt::format(R"(,"unanswered":["{}"])", fmt::join(unanswered, R"(",")"));
  }
  return body + "}";
}

}  // namespace

async::Task<void> IndexService::handle(http::Exchange& exchange) {
  const auto served = co_await serve(exchange);
  if (served) co_return Status{};
  log(LogLevel::info, "index", "a request was refused", {{"why", served.error().text()}});
  if (exchange.is_answered() || exchange.has_faulty_body()) co_return served.error();
  co_return co_await answer_problem(exchange, wire::problem_of(served.error()));
}

async::Task<void> IndexService::serve(http::Exchange& exchange) {
  const http::RequestHead& head = exchange.head();
  if (head.method == "GET" && head.target.path == "/v1/health") co_return co_await health(exchange);
  const auto bearer = parts_.gate.admit(head, exchange.peer());
  if (!bearer) {
    co_return co_await answer_problem(exchange, {.status = 401,
                                                 .code = "CORDON-API-UNAUTHENTICATED",
                                                 .detail = bearer.error().text(),
                                                 .remedy = "gateways ask here, and nobody else"});
  }
  if (!parts_.readers.term()) co_return co_await answer_problem(exchange, waits());
  const std::string& path = head.target.path;
  const bool is_e2b = path == "/sandboxes" || path == "/v2/sandboxes";
  if (head.method == "GET" && (is_e2b || path == "/v1/sandboxes")) {
    co_return co_await list(exchange, *bearer, is_e2b);
  }
  if (head.method == "POST" && path == kUnitsPath) co_return co_await units(exchange, *bearer);
  co_return Error{Errc::not_found, "an index answers lists of sandboxes, and gives units"};
}

async::Task<void> IndexService::health(http::Exchange& exchange) {
  const auto term = parts_.readers.term();
  wire::JsonWriter json;
  json.begin_object();
  json.text("status", term ? "active" : "standby");
  json.text("version", CORDON_VERSION);
  json.number("cell", std::uint64_t{parts_.cell});
  if (term) {
    json.number("number", *term);
    json.number("sandboxes", std::uint64_t{parts_.index.size()});
    // Those that can tell nothing, or what no node tells, are named: what they have is in no list.
    std::vector<std::string> unread;
    for (const NodeId node : parts_.readers.unread()) unread.push_back(to_string(node));
    json.texts("unread", unread);
    json.boolean("complete", unread.empty() && parts_.readers.all_read_at() && parts_.desk.gives());
  }
  json.end_object();
  co_return co_await exchange.answer(200, {{"Content-Type", "application/json"}}, json.take());
}

async::Task<void> IndexService::list(http::Exchange& exchange, const gate::Bearer& bearer,
                                     bool is_e2b) {
  const http::RequestHead& head = exchange.head();
  CO_TRY(const gate::Query query, gate::read_query(head.target.query.value_or(std::string{})));
  CO_TRY(const auto limit, gate::number_of(query, "limit"));
  if (limit == 0U) co_return Error{Errc::invalid, "query: `limit` is at least 1"};
  CO_TRY(const std::vector<NodeMark> marks,
         read_marks(http::only(head.fields, kMarksField).value_or(""), parts_.cell));
  CO_TRY(std::string tenant, tenant_named(head, bearer.authority));
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  ListAsk ask{.nodes = {},
              .tenant = std::move(tenant),
              .may =
                  [&bearer, now](const std::string& whose, const std::string& id) {
                    const token::Query asked{.operation = token::Operation::sandbox_read,
                                             .tenant = whose,
                                             .sandbox = id};
                    return static_cast<bool>(bearer.authority.may(asked, now));
                  },
              .labels = {},
              .after = is_e2b ? std::string{} : value_of(query, "after"),
              .most = std::min(limit.value_or(kUsualRows), is_e2b ? kMostE2bRows : kMostRows),
              .states = {}};
  if (is_e2b) {
    CO_TRY(ask.labels, gate::wanted_metadata(query));
    if (query.contains("state")) ask.states = value_of(query, "state");
  } else {
    ask.labels = labels_in(query);
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  }
  co_await parts_.readers.until_has(marks, kPatience);
  // All of what follows is of one moment.
  if (!parts_.readers.term()) co_return co_await answer_problem(exchange, waits());
  std::vector<std::string> unanswered;
  for (const NodeMark& mark : marks) {
    if (parts_.index.has(mark.node, mark.at)) {
      ask.nodes.push_back(mark.node);
    } else {
      unanswered.push_back(to_string(mark.node));
    }
  }
  const Listed listed = is_e2b ? list_e2b_rows(parts_.index, ask) : list_rows(parts_.index, ask);
  http::Fields fields{{"Content-Type", "application/json"}};
  if (!unanswered.empty())
    fields.push_back(
        {std::string{kUnansweredField}, fmt::format("{}", fmt::join(unanswered, " "))});
  if (is_e2b) {
    if (!listed.last.empty()) fields.push_back({"X-Next-Token", listed.last});
    co_return co_await exchange.answer(200, std::move(fields), "[" + listed.rows + "]");
  }
  co_return co_await exchange.answer(200, std::move(fields), whole_list(listed, unanswered));
}

async::Task<void> IndexService::units(http::Exchange& exchange, const gate::Bearer& bearer) {
  if (!bearer.authority.is_operator() || bearer.authority.tenant()) {
    co_return Error{Errc::denied, "units are for gateways"};
  }
  CO_TRY(const std::string body, co_await exchange.read_body(kLargestUnits));
  CO_TRY(const UnitsQuestion question, read_units_question(body));
  for (const wire::Unit& unused : question.unused) {
    parts_.desk.give_back(question.tenant, unused);
  }
  if (question.wanted == 0) co_return co_await exchange.answer(204, {}, {});
  CO_TRY(const UnitDesk::Answer answer,
         co_await parts_.desk.take(question.tenant, question.wanted));
  co_return co_await exchange.answer(200, {{"Content-Type", "application/json"}},
                                     to_json(UnitsAnswer{.units = answer.units,
                                                         .allowed = answer.allowed,
                                                         .used = answer.used,
                                                         .unread = answer.unread}));
}

}  // namespace cordon::fleet
