// SPDX-License-Identifier: Apache-2.0
// What happens on all nodes, as one stream. A place in it is a place in the stream of each.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>

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

// As nodes make them: it goes into a path, and back into the cursor of all.
bool is_cursor(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
  });
}

// Nothing: it is no place in the stream of a fleet.
std::optional<Cursors> cursors_in(std::string_view text) {
  Cursors cursors;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('~'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos || !node_named(part.substr(0, colon)) ||
        !is_cursor(part.substr(colon + 1)) ||
        !cursors.emplace(part.substr(0, colon), part.substr(colon + 1)).second) {
      return std::nullopt;
    }
  }
  return cursors;
}

// A line of a node that is longer says what none does.
constexpr std::size_t kLongestEvent = std::size_t{256} << 10U;
// Between two attempts at the stream of a node that has none to give. One that has told for longer
// than the first is asked again at once.
constexpr std::chrono::seconds kFirstPause{1};
constexpr std::chrono::seconds kLongestPause{30};

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
  static constexpr std::size_t kMostHeard = std::size_t{1} << 20U;  // bytes
  struct Part {
    bool is_running = false;
    bool was_let_in = false;
    bool is_refused = false;  // by its latest word
    Ticks not_before{};
    std::chrono::seconds pause = kFirstPause;
  };
  bool is_any_running() const {
    return std::ranges::any_of(parts, [](const auto& part) { return part.second.is_running; });
  }
  std::deque<Heard> heard;
  std::size_t bytes = 0;  // of what is heard
  std::map<NodeId, Part> parts;
  // Nodes that have let us in with these rights do so no more: they were taken back, and nodes may
  // have heard of it before we do. One alone may lie: as many as still tell are believed.
  bool is_taken_back() const {
    std::size_t refuse = 0;
    std::size_t tell = 0;
    for (const auto& [node, part] : parts) {
      if (!part.was_let_in) continue;
      if (part.is_refused) ++refuse;
      if (!part.is_refused && part.is_running) ++tell;
    }
    return refuse > 0 && refuse >= tell;
  }
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
    Streams::Part& part = to.parts[of];
    part.is_refused = head.status == 401 || head.status == 403;
    if (head.status != 200) co_return Error{Errc::unavailable, "it refuses to tell"};
    part.was_let_in = true;
    std::string held;
    for (;;) {
      CO_TRY(const std::string piece, co_await answer.next());
      if (piece.empty()) co_return Status{};
      std::size_t from_here = held.size();
      held += piece;
      std::size_t begin = 0;
      for (std::size_t end = held.find('\n', from_here); end != std::string::npos;
           end = held.find('\n', begin)) {
        while (to.bytes >= Streams::kMostHeard) co_await to.room.async_wait(async::kQuiet);
        to.heard.push_back({of, held.substr(begin, end - begin)});
        to.bytes += end - begin + sizeof(Heard);
        to.news.cancel();
        begin = end + 1;
        from_here = begin;
      }
      held.erase(0, begin);
      if (held.size() > kLongestEvent) co_return Error{Errc::invalid, "a line without end"};
    }
  };
  const Ticks began = Ticks::clock::now();
  const Status ended = co_await read(*streams, nodes, node, std::move(question));
  Streams::Part& part = streams->parts[node];
  part.is_running = false;
  // One that was told for a while has only broken off.
  const auto told_for = Ticks::clock::now() - began;
  if (ended || told_for > kLongestPause) part.pause = kFirstPause;
  if (told_for > kFirstPause) {
    part.not_before = Ticks::clock::now();
  } else {
    part.not_before = Ticks::clock::now() + part.pause;
    part.pause = std::min(part.pause * 2, kLongestPause);
  }
  streams->news.cancel();
}

bool is_end_by_move(const json::object& event) {
  const json::value* const verdict = event.if_contains("verdict");
  if (verdict == nullptr || !verdict->is_object()) return false;
  const json::value* const ending = verdict->get_object().if_contains("ending");
  return ending != nullptr && ending->is_string() && ending->get_string() == "moved";
}

// With the place in all streams in place of the one in its own. Empty: it is nothing that this node
// can say.
std::string passed_on(const Heard& heard, Cursors& cursors, Reissue& reissue, const Moved& moved) {
  boost::system::error_code error;
  json::value said = json::parse(heard.line, error);
  if (error || !said.is_object()) return {};
  json::object& object = said.get_object();
  if (const json::value* const sandbox = object.if_contains("sandbox")) {
    if (!sandbox->is_string()) return {};
    const auto id = SandboxId::parse(std::string_view{sandbox->get_string()});
    const auto home = id ? reissue.node_of(*id) : std::nullopt;
    const Passage* const passage = home ? moved.passage(id->text()) : nullptr;
    const bool is_there = home == heard.node || (home && moved.where(id->text()) == heard.node) ||
                          (passage != nullptr && passage->from == heard.node);
    if (!is_there) return {};
  }
  const json::value* const cursor = object.if_contains("cursor");
  if (cursor == nullptr || !cursor->is_string()) return heard.line + "\n";
  if (!is_cursor(cursor->get_string())) return {};
  cursors[to_string(heard.node)] = cursor->get_string();
  // It has ended there only: here it goes on.
  if (is_end_by_move(object)) return {};
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
  const auto counted = in_flight_.begin("events " + asked.tenant, most_at_once(living().size()));
  if (!counted) {
    co_return Error{Errc::exhausted,
                    "as many streams of all nodes at once as one may have here; end one"};
  }
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
            Streams::Part& part = streams->parts[node];
            const bool is_due = !part.is_running && Ticks::clock::now() >= part.not_before;
            if ((!is_first && !wanted.follows) || !is_due) continue;
            auto rights = self->rights_for(*of, node);
            if (!rights) continue;
            std::string path = "/v1/events?follow=";
            path += wanted.follows ? "true" : "false";
            const auto since = cursors.find(to_string(node));
            if (since != cursors.end()) path += "&since=" + since->second;
            part.is_running = true;
            scope.spawn(read_events(streams, self->parts_.nodes, node,
                                    {.path = std::move(path), .fields = *std::move(rights)}));
          }
          while (written && !streams->heard.empty()) {
            const std::string line = passed_on(streams->heard.front(), cursors,
                                               self->parts_.reissue, self->parts_.moved);
            streams->bytes -= streams->heard.front().line.size() + sizeof(Heard);
            streams->heard.pop_front();
            streams->room.cancel();
            if (!line.empty()) written = co_await of->exchange.write(line);
          }
          if (!wanted.follows && !streams->is_any_running() && streams->heard.empty()) break;
          if (of->exchange.is_draining()) break;
          if (streams->is_taken_back()) {
            written = Error{Errc::denied, "a node says that the token holds no more"};
            break;
          }
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
