// SPDX-License-Identifier: Apache-2.0
// What all nodes have, as one list.
#include <algorithm>
#include <map>
#include <tuple>

#include <boost/asio/this_coro.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "async/deadline.h"
#include "async/scope.h"
#include "base/id.h"
#include "etcd/sleep.h"
#include "fleet/gateway.h"
#include "fleet/index_list.h"

namespace cordon::fleet {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kListWithin{10};
constexpr std::size_t kLargestPart = std::size_t{4} << 20U;  // of a list, of one node
constexpr std::size_t kLargestSecret = std::size_t{64} << 10U;

using Answers = std::map<NodeId, Result<Nodes::Answer>>;

// One request to each of `nodes`, beside each other. `rights`: of the same order.
struct Round {
  Nodes& nodes;
  std::string method;
  std::string path;
  std::string body;
  std::vector<std::pair<NodeId, http::Fields>> to;
};

asio::awaitable<void> ask_one(Round& round, std::size_t at, Answers& answers) {
  const NodeId node = round.to[at].first;
  Nodes::Question question{.method = round.method,
                           .path = round.path,
                           .fields = std::move(round.to[at].second),
                           .body = round.body,
                           .most = kLargestPart};
  auto answer = co_await async::within(kListWithin, round.nodes.ask(node, std::move(question)));
  answers.emplace(node, std::move(answer));
}

async::Task<Answers> ask_all(Round round) {
  co_return co_await async::in_scope(
      [](async::Scope& scope, Round& held) -> async::Task<Answers> {
        Answers answers;
        for (std::size_t at = 0; at < held.to.size(); ++at) {
          scope.spawn(ask_one(held, at, answers));
        }
        co_await scope.join();
        co_return answers;
      },
      std::move(round));
}

std::string target_of(const http::RequestHead& head) {
  return head.target.path + (head.target.query ? "?" + *head.target.query : "");
}

// A value for the query of another request.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) out += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  return out;
}

Result<std::size_t> rows_asked(const gate::Query& query) {
  TRY(const auto asked, gate::number_of(query, "limit"));
  if (asked == 0U) return Error{Errc::invalid, "query: `limit` is at least 1"};
  return std::min<std::uint64_t>(asked.value_or(kUsualRows), kMostRows);
}

std::string_view text_in(const json::object& row, std::string_view name) {
  const json::value* const found = row.if_contains(name);
  return found != nullptr && found->is_string() ? std::string_view{found->get_string()} : "";
}

// Where all that answer refuse. One by itself may be at fault: it has no part in the list.
template <class Parts>
const Nodes::Answer* refusal_in(const Parts& parts) {
  const Nodes::Answer* refusal = nullptr;
  for (const auto& [nodes, answer] : parts) {
    if (!answer) continue;
    if (answer->status < 400 || answer->status >= 500) return nullptr;
    refusal = &*answer;
  }
  return refusal;
}

// `nodes` are in their order. One that is being moved may be at the one or the other.
bool is_of(Reissue& reissue, const Moved& moved, std::string_view id,
           const std::vector<NodeId>& nodes) {
  const auto parsed = SandboxId::parse(id);
  const auto home = parsed ? reissue.node_of(*parsed) : std::nullopt;
  if (!home) return false;
  const auto where = moved.where(id);
  const Passage* const passage = moved.passage(id);
  return std::ranges::binary_search(nodes, *home) ||
         (where && std::ranges::binary_search(nodes, *where)) ||
         (passage != nullptr && std::ranges::binary_search(nodes, passage->from));
}

async::Task<void> answer_as(Asked& asked, const Nodes::Answer& said) {
  http::Fields fields;
  if (const auto type = http::only(said.fields, "content-type")) {
    fields.push_back({"Content-Type", std::string{*type}});
  }
  co_return co_await asked.exchange.answer(said.status, std::move(fields), said.body);
}

}  // namespace

async::Task<InFlight::One> Gateway::gathering(const Asked& asked, std::size_t nodes) {
  constexpr std::chrono::milliseconds kLook{20};
  constexpr std::chrono::seconds kPatience{5};
  const Ticks end = parts_.clock.ticks() + kPatience;
  for (;;) {
    auto one = in_flight_.begin("all " + asked.tenant, most_at_once(nodes));
    if (one) co_return *std::move(one);
    if (parts_.clock.ticks() >= end) {
      co_return Error{Errc::exhausted,
                      "as many lists of all nodes at once as one may ask for here; ask for fewer"};
    }
    co_await etcd::sleep(kLook);
  }
}

async::Task<std::vector<Gateway::Part>> Gateway::parts_of_list(Asked& asked, std::string path,
                                                               std::string of_index) {
  std::vector<NodeId> left = living();
  if (left.empty()) co_return Error{Errc::unavailable, "no node of the fleet answers"};
  CO_TRY(std::vector<Part> parts, co_await parts_of_indexes(asked, std::move(of_index), left));
  if (left.empty()) co_return parts;
  CO_TRY(const auto one, co_await gathering(asked, left.size()));
  Round round{parts_.nodes, asked.exchange.head().method, std::move(path), {}, {}};
  for (const NodeId node : left) {
    CO_TRY(http::Fields rights, rights_for(asked, node));
    round.to.emplace_back(node, std::move(rights));
  }
  CO_TRY(Answers answers, co_await ask_all(std::move(round)));
  for (auto& [node, answer] : answers) parts.push_back({{node}, std::move(answer)});
  co_return parts;
}

async::Task<void> Gateway::list(Asked& asked) {
  CO_TRY(const gate::Query query, query_of(asked));
  CO_TRY(const std::size_t most, rows_asked(query));
  const std::string target = target_of(asked.exchange.head());
  CO_TRY(const std::vector<Part> parts, co_await parts_of_list(asked, target, target));
  if (const auto* const refused = refusal_in(parts)) co_return co_await answer_as(asked, *refused);
  std::map<std::string, json::value, std::less<>> rows;
  bool more = false;
  json::array unanswered;
  for (const auto& [nodes, answer] : parts) {
    boost::system::error_code error;
    const json::value said = answer ? json::parse(answer->body, error) : json::value{};
    const json::object* const object = said.if_object();
    const json::value* const list = object ? object->if_contains("sandboxes") : nullptr;
    if (!answer || answer->status != 200 || list == nullptr || !list->is_array()) {
      for (const NodeId node : nodes) unanswered.emplace_back(to_string(node));
      continue;
    }
    for (const json::value& row : list->get_array()) {
      if (!row.is_object()) continue;
      const std::string_view id = text_in(row.get_object(), "id");
      // A node speaks of its own alone.
      if (!is_of(parts_.reissue, parts_.moved, id, nodes)) continue;
      rows.emplace(id, row);
    }
    more = more || object->contains("next");
  }
  json::array shown;
  std::string last;
  for (auto& [id, row] : rows) {
    if (shown.size() == most) {
      more = true;
      break;
    }
    shown.push_back(std::move(row));
    last = id;
  }
  if (std::ranges::none_of(parts, [](const Part& part) { return part.answer.has_value(); })) {
    co_return co_await answer_problem(
        asked, node_away(parts.front().nodes.front(), "nor does any other node of the fleet"));
  }
  json::object whole{{"sandboxes", std::move(shown)}};
  if (more && !last.empty()) whole.emplace("next", last);
  // What is missing is said: a list that merely looks whole would have somebody clean up too much.
  if (!unanswered.empty()) whole.emplace("unanswered", std::move(unanswered));
  co_return co_await answer_json(asked, 200, json::serialize(whole));
}

async::Task<void> Gateway::list_e2b(Asked& asked) {
  const http::RequestHead& head = asked.exchange.head();
  CO_TRY(const gate::Query query, query_of(asked));
  CO_TRY(const std::size_t most, rows_asked(query));
  std::string rest;
  for (const std::string_view passed : {"metadata", "state", "order"}) {
    const auto value = query.find(passed);
    if (value != query.end()) rest += fmt::format("&{}={}", passed, escaped(value->second));
  }
  CO_TRY(const std::vector<Part> parts,
         co_await parts_of_list(asked, head.target.path + "?limit=1000" + rest,
                                head.target.path + "?limit=20000" + rest));
  if (const auto* const refused = refusal_in(parts)) co_return co_await answer_as(asked, *refused);
  using Row = std::tuple<std::string, std::string, json::value>;
  std::vector<Row> rows;
  for (const auto& [nodes, answer] : parts) {
    boost::system::error_code error;
    const json::value said = answer ? json::parse(answer->body, error) : json::value{};
    // Clients have no word for a list that is not whole.
    const bool has_more = answer && http::count(answer->fields, "x-next-token") != 0;
    if (!answer || answer->status != 200 || !said.is_array() || has_more) {
      co_return co_await answer_problem(
          asked, node_away(nodes.front(), "its part of the list is missing"));
    }
    for (const json::value& row : said.get_array()) {
      if (!row.is_object()) continue;
      const json::object& object = row.get_object();
      const std::string_view id = text_in(object, "sandboxID");
      if (!is_of(parts_.reissue, parts_.moved, id, nodes)) continue;
      rows.emplace_back(text_in(object, "startedAt"), id, row);
    }
  }
  const auto order = query.find("order");
  const bool rises = order != query.end() && order->second == "asc";
  std::ranges::sort(rows, [rises](const Row& one, const Row& other) {
    const auto left = std::tie(std::get<0>(one), std::get<1>(one));
    const auto right = std::tie(std::get<0>(other), std::get<1>(other));
    return rises ? left < right : right < left;
  });
  if (const auto mark = query.find("nextToken"); mark != query.end()) {
    const auto last =
        std::ranges::find(rows, mark->second, [](const Row& row) { return std::get<1>(row); });
    if (last == rows.end()) co_return Error{Errc::invalid, "`nextToken`: the page before is gone"};
    rows.erase(rows.begin(), last + 1);
  }
  http::Fields fields{{"Content-Type", "application/json"}};
  json::array shown;
  for (Row& row : rows) {
    if (shown.size() == most) break;
    shown.push_back(std::move(std::get<2>(row)));
  }
  if (rows.size() > most) fields.push_back({"X-Next-Token", std::get<1>(rows[most - 1])});
  co_return co_await asked.exchange.answer(200, std::move(fields), json::serialize(shown));
}

async::Task<void> Gateway::to_all(Asked& asked) {
  const http::RequestHead& head = asked.exchange.head();
  CO_TRY(std::string body, co_await asked.exchange.read_body(kLargestSecret));
  Round round{parts_.nodes, head.method, target_of(head), std::move(body), {}};
  for (const NodeId node : living()) {
    CO_TRY(http::Fields rights, rights_for(asked, node));
    round.to.emplace_back(node, std::move(rights));
  }
  if (round.to.empty()) co_return Error{Errc::unavailable, "no node of the fleet answers"};
  CO_TRY(const auto one, co_await gathering(asked, round.to.size()));
  CO_TRY(const Answers answers, co_await ask_all(std::move(round)));
  const Nodes::Answer* done = nullptr;
  const Nodes::Answer* absent = nullptr;
  for (const auto& [node, answer] : answers) {
    if (!answer) co_return co_await answer_problem(asked, node_away(node, answer.error().text()));
    if (answer->status == 404) {
      absent = &*answer;
    } else if (answer->status >= 300) {
      co_return co_await answer_as(asked, *answer);
    } else {
      done = &*answer;
    }
  }
  co_return co_await answer_as(asked, done != nullptr ? *done : *absent);
}

}  // namespace cordon::fleet
