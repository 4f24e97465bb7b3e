// SPDX-License-Identifier: Apache-2.0
// What happens on all nodes, as one stream. A place in it is a place in the stream of each.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "async/scope.h"
#include "async/waiting.h"
#include "base/id.h"
#include "fleet/gateway.h"
#include "fleet/node_answer.h"
#include "token/operation.h"
#include "wire/event_answer.h"

namespace cordon::fleet {
namespace {

namespace json = boost::json;

// "7.42:CURSOR~7.43:CURSOR"
using Cursors = std::map<std::string, std::string, std::less<>>;

std::string in_one(const Cursors& cursors) {
  std::string text;
  for (const auto& [node, cursor] : cursors) {
    if (!text.empty()) text += '~';
    text.append(node).append(":").append(cursor);
  }
  return text;
}

// Nothing: it is no place in the stream of a fleet.
std::optional<Cursors> cursors_in(std::string_view text) {
  Cursors cursors;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('~'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    cursors.emplace(part.substr(0, colon), part.substr(colon + 1));
  }
  return cursors;
}

// A line of a node that is longer says what none does.
constexpr std::size_t kLongestEvent = std::size_t{2} << 20U;

// From where on, and whether it goes on.
struct Wanted {
  Cursors since{};
  bool is_lost = false;  // where it wants to go on nobody knows
  bool follows = true;
};

// What one node has said, and waits to be passed on.
struct Heard {
  NodeId node;
  std::string line;
};

struct Streams {
  explicit Streams(const asio::any_io_executor& executor)
      : news{executor, async::kNever}, room{executor, async::kNever} {}
  static constexpr std::size_t kMostHeard = 1024;
  std::deque<Heard> heard;
  std::set<NodeId> running;
  asio::steady_timer news;  // never fire: cancelled when there is something, or room
  asio::steady_timer room;
};

asio::awaitable<void> read_events(std::shared_ptr<Streams> streams, Nodes& nodes, NodeId node,
                                  Nodes::Question question) {
  const auto read = [](Streams& to, Nodes& from, NodeId of,
                       Nodes::Question asks) -> async::Task<void> {
    CO_TRY(const auto connection, co_await from.connect(of));
    CO_TRY_DO(co_await from.send(*connection, of, std::move(asks)));
    NodeAnswer answer{*connection};
    CO_TRY(http::ResponseHead head, co_await answer.head());
    from.heard(of, head.fields);
    if (head.status != 200) co_return Error{Errc::unavailable, "it refuses to tell"};
    std::string held;
    for (;;) {
      CO_TRY(const std::string piece, co_await answer.next());
      if (piece.empty()) co_return Status{};
      held += piece;
      for (std::size_t end = held.find('\n'); end != std::string::npos; end = held.find('\n')) {
        while (to.heard.size() >= Streams::kMostHeard) co_await to.room.async_wait(async::kQuiet);
        to.heard.push_back({of, held.substr(0, end)});
        to.news.cancel();
        held.erase(0, end + 1);
      }
      if (held.size() > kLongestEvent) co_return Error{Errc::invalid, "a line without end"};
    }
  };
  static_cast<void>(co_await read(*streams, nodes, node, std::move(question)));
  streams->running.erase(node);
  streams->news.cancel();
}

// With the place in all streams in place of the one in its own. Empty: it is nothing that this node
// can say.
std::string passed_on(const Heard& heard, Cursors& cursors, Reissue& reissue) {
  boost::system::error_code error;
  json::value said = json::parse(heard.line, error);
  if (error || !said.is_object()) return {};
  json::object& object = said.get_object();
  if (const json::value* const sandbox = object.if_contains("sandbox")) {
    if (!sandbox->is_string()) return {};
    const auto id = SandboxId::parse(std::string_view{sandbox->get_string()});
    if (!id || reissue.node_of(*id) != heard.node) return {};
  }
  const json::value* const cursor = object.if_contains("cursor");
  if (cursor == nullptr || !cursor->is_string()) return heard.line + "\n";
  cursors[to_string(heard.node)] = cursor->get_string();
  object["cursor"] = in_one(cursors);
  return json::serialize(object) + "\n";
}

Result<Wanted> wanted_by(const gate::Query& query) {
  TRY_DO(gate::only_known(query, {"since", "follow"}));
  Wanted wanted;
  if (const auto since = query.find("since"); since != query.end()) {
    auto cursors = cursors_in(since->second);
    wanted.is_lost = !cursors;
    if (cursors) wanted.since = *std::move(cursors);
  }
  if (const auto follow = query.find("follow"); follow != query.end()) {
    if (follow->second != "true" && follow->second != "false") {
      return Error{Errc::invalid, "query: `follow` is true or false"};
    }
    wanted.follows = follow->second == "true";
  }
  return wanted;
}

}  // namespace

async::Task<void> Gateway::stream_events(Asked& asked) {
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  const token::Answer may = asked.bearer.authority.may(
      {.operation = token::Operation::event_read, .tenant = asked.tenant}, now);
  if (!may) co_return Error{Errc::denied, may.words};
  CO_TRY(const gate::Query query, query_of(asked));
  CO_TRY(Wanted wanted, wanted_by(query));
  CO_TRY_DO(co_await asked.exchange.begin(
      200, {{"Content-Type", "application/x-ndjson"}, {"Cache-Control", "no-store"}}));
  co_return co_await async::in_scope(
      [](async::Scope& scope, Gateway*& self, Asked*& of, Wanted& wanted) -> async::Task<void> {
        const auto streams = std::make_shared<Streams>(co_await asio::this_coro::executor);
        Cursors cursors = wanted.since;
        // Written once: what each node has is told from its beginning.
        Status written =
            wanted.is_lost ? co_await of->exchange.write(wire::lost_line("", {})) : Status{};
        for (bool is_first = true; written; is_first = false) {
          for (const NodeId node : self->living()) {
            // Also those that came later, and those whose stream broke off.
            if ((!is_first && !wanted.follows) || streams->running.contains(node)) continue;
            auto rights = self->rights_for(*of, node);
            if (!rights) continue;
            std::string path = "/v1/events?follow=";
            path += wanted.follows ? "true" : "false";
            const auto since = cursors.find(to_string(node));
            if (since != cursors.end()) path += "&since=" + since->second;
            streams->running.insert(node);
            scope.spawn(read_events(streams, self->parts_.nodes, node,
                                    {.path = std::move(path), .fields = *std::move(rights)}));
          }
          while (written && !streams->heard.empty()) {
            const std::string line =
                passed_on(streams->heard.front(), cursors, self->parts_.reissue);
            streams->heard.pop_front();
            streams->room.cancel();
            if (!line.empty()) written = co_await of->exchange.write(line);
          }
          if (!wanted.follows && streams->running.empty() && streams->heard.empty()) break;
          if (of->exchange.is_draining()) break;
          // Nodes come, and a gateway that ends is not waited for.
          streams->news.expires_after(std::chrono::seconds{1});
          if (streams->heard.empty()) co_await streams->news.async_wait(async::kQuiet);
        }
        scope.cancel();
        if (!written) co_return written;
        co_return co_await of->exchange.finish();
      },
      this, &asked, std::move(wanted));
}

}  // namespace cordon::fleet
