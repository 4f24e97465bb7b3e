// SPDX-License-Identifier: Apache-2.0
#include "fleet/mover.h"

#include <algorithm>
#include <random>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "async/deadline.h"
#include "async/shielded.h"
#include "fleet/gateway.h"
#include "token/sandbox_name.h"

namespace cordon::fleet {
namespace {

namespace json = boost::json;

constexpr std::size_t kLargestTraveller = std::size_t{10} << 20U;
constexpr std::chrono::seconds kStep{20};
constexpr std::chrono::seconds kMaking{45};  // a launch may take twenty
constexpr int kMostHops = 3;
constexpr std::string_view kNoRoom = "Cordon-No-Room";

std::string new_move() {
  std::random_device device;
  std::string text;
  while (text.size() < 32) text += fmt::format("{:08x}", device());
  return text;
}

std::string text_in(const json::value& of, std::string_view name) {
  const auto* const object = of.if_object();
  const auto* const found = object == nullptr ? nullptr : object->if_contains(name);
  return found != nullptr && found->is_string() ? std::string{found->get_string()} : std::string{};
}

json::value parsed(const std::string& body) {
  boost::system::error_code error;
  json::value value = json::parse(body, error);
  return error ? json::value{} : value;
}

wire::ProblemAnswer no_such(std::string_view sandbox) {
  return {.status = 404,
          .code = "CORDON-API-NOT-FOUND",
          .detail = fmt::format("there is no sandbox {}", sandbox),
          .remedy = "`cordon ps` lists them"};
}

}  // namespace

std::string departure_path(std::string_view sandbox, std::string_view step, std::string_view move) {
  return fmt::format("/v1/node/departures/{}{}?move={}", sandbox, step, move);
}

std::string arrival_path(std::string_view sandbox, std::string_view step, std::string_view move) {
  return fmt::format("/v1/node/arrivals/{}{}?move={}", sandbox, step, move);
}

wire::ProblemAnswer not_moved(int status, std::string_view why) {
  return {.status = status,
          .code = "CORDON-FLEET-NOT-MOVED",
          .detail = fmt::format("the sandbox was not moved: {}", why),
          .remedy = "it goes on where it was; move it again, or to another node"};
}

wire::ProblemAnswer refused_by(NodeId node, const Nodes::Answer& answer) {
  const std::string detail = text_in(parsed(answer.body), "detail");
  return not_moved(
      answer.status == 503 ? 503 : 409,
      fmt::format("node {}: {}", to_string(node),
                  detail.empty() ? fmt::format("it answers {}", answer.status) : detail));
}

async::Task<Nodes::Answer> Mover::ask(NodeId node, Nodes::Question question,
                                      std::chrono::seconds limit) {
  return async::within(limit, parts_.nodes.ask(node, std::move(question)));
}

async::Task<Nodes::Answer> Mover::ask_step(NodeId node, std::string method, std::string path) {
  return ask(node, {.method = std::move(method), .path = std::move(path)}, kStep);
}

async::Task<Mover::Outcome> Mover::move(SandboxId id, std::optional<NodeId> to) {
  return async::shielded<Outcome>(*scope_, move_now(std::move(id), to), {});
}

async::Task<Mover::Outcome> Mover::move_now(SandboxId id, std::optional<NodeId> to) {
  const auto home = parts_.reissue.node_of(id);
  if (!home) co_return no_such(id.text());
  if (!busy_.insert(id.text()).second) co_return not_moved(409, "somebody moves it already");
  // What stands behind it is done whether or not this is thrown out of something.
  struct Busy {
    std::set<std::string, std::less<>>& all;
    std::string sandbox;
    ~Busy() { all.erase(sandbox); }
  } const busy{busy_, id.text()};
  // Not what we have heard: what is there now, and which revision says it.
  const auto found = co_await parts_.all.range({.keys = etcd::only(moved_key_of(id.text()))});
  if (!found) {
    co_return not_moved(503, "etcd does not say where it is: " + found.error().text());
  }
  Journey journey{.sandbox = id.text(), .passage = {.to = {}, .from = *home, .move = new_move()}};
  if (!found->values.empty()) {
    journey.known = found->values.front().mod_revision;
    const auto before = decode_passage(found->values.front().value);
    if (before) journey.passage.from = before->to;
  } else if (const auto heard = parts_.moved.where(id.text())) {
    journey.passage.from = *heard;
  }
  if (to == journey.passage.from) {
    co_return not_moved(409, fmt::format("it is at node {} already", to_string(*to)));
  }
  co_return co_await move_on(journey, to);
}

async::Task<Mover::Outcome> Mover::move_on(Journey& journey, std::optional<NodeId> to) {
  const Ticks began = parts_.clock.ticks();
  CO_TRY(Refusal refusal, co_await leave(journey));
  if (refusal) co_return *std::move(refusal);
  CO_TRY(refusal, co_await arrive(journey, to));
  if (!refusal) {
    CO_TRY(refusal, co_await copy_all(journey));
  }
  Written written = Written::no;
  if (!refusal) {
    CO_TRY(written, co_await write(journey));
    if (written == Written::no) refusal = not_moved(503, "etcd does not take where it is to be");
  }
  if (refusal) {
    CO_TRY_DO(co_await undo(journey));
    co_return *std::move(refusal);
  }
  const wire::ProblemAnswer unsure{
      .status = 502,
      .code = "CORDON-FLEET-MOVE-UNSURE",
      .detail = fmt::format("whether the sandbox is at node {} or {} is not known yet",
                            to_string(journey.passage.from), to_string(journey.passage.to)),
      .remedy = "gateways go on with it; ask for the sandbox in a minute"};
  if (written == Written::unknown) {
    scope_->spawn(settle_unknown(std::move(journey)));
    co_return unsure;
  }
  parts_.moved.know(journey.sandbox, journey.passage);
  CO_TRY(const Finished finished, co_await finish(journey.sandbox, journey.passage));
  if (finished == Finished::stayed) {
    co_return not_moved(409, "it has ended, or become narrower, while it was moved");
  }
  if (finished == Finished::unknown) {
    scope_->spawn(finish_by_and_by(journey.sandbox));
    co_return unsure;
  }
  co_return Report{
      .from = journey.passage.from,
      .to = journey.passage.to,
      .bytes = journey.bytes,
      .took = std::chrono::duration_cast<std::chrono::milliseconds>(parts_.clock.ticks() - began)};
}

async::Task<Mover::Refusal> Mover::leave(Journey& journey) {
  const NodeId from = journey.passage.from;
  const std::string body = json::serialize(json::object{{"sandbox", journey.sandbox}});
  const auto answer =
      co_await ask(from,
                   {.method = "POST",
                    .path = fmt::format("/v1/node/departures?move={}", journey.passage.move),
                    .body = body,
                    .most = kLargestTraveller},
                   kStep);
  if (!answer) {
    // It may hold the sandbox all the same, and lets it go by itself; sooner if it hears this.
    static_cast<void>(co_await ask_step(from, "DELETE",
                                        departure_path(journey.sandbox, "", journey.passage.move)));
    co_return node_away(from, answer.error().text());
  }
  if (answer->status == 404) co_return no_such(journey.sandbox);
  // It went on, and what etcd said of it is gone.
  const auto said_to = http::only(answer->fields, wire::kMovedField);
  const auto there = said_to ? node_named(*said_to) : std::nullopt;
  if (answer->status == 410 && there && journey.hops++ < kMostHops) {
    journey.passage.from = *there;
    co_return co_await leave(journey);
  }
  if (answer->status != 200) co_return refused_by(from, *answer);
  const json::value said = parsed(answer->body);
  journey.tenant = text_in(said, "tenant");
  journey.traveller = text_in(said, "traveller");
  const auto* const object = said.if_object();
  const auto* const paths = object == nullptr ? nullptr : object->if_contains("paths");
  const auto* const seconds = object == nullptr ? nullptr : object->if_contains("seconds");
  if (paths == nullptr || !paths->is_array() || seconds == nullptr || !seconds->is_int64()) {
    CO_TRY_DO(co_await undo(journey));
    co_return not_moved(502, fmt::format("node {} does not say what it is", to_string(from)));
  }
  journey.life = std::chrono::seconds{std::max<std::int64_t>(1, seconds->get_int64())};
  for (const json::value& path : paths->get_array()) {
    if (path.is_string()) journey.paths.emplace_back(path.get_string());
  }
  co_return Refusal{};
}

async::Task<Mover::Refusal> Mover::arrive(Journey& journey, std::optional<NodeId> wanted) {
  std::vector<NodeId> tried{journey.passage.from};
  Refusal refusal;
  bool has_no_room = true;
  for (std::size_t at = 0; at < kMostTries && has_no_room; ++at) {
    Roster& roster = parts_.nodes.roster();
    std::optional<NodeId> to = wanted;
    if (!to) to = roster.choose("", tried, journey.passage.from.cell);
    if (!to) to = roster.choose("", tried);
    if (!to) to = roster.choose_full(tried);
    if (!to) break;
    tried.push_back(*to);
    CO_TRY(refusal, co_await arrive_at(journey, *to, has_no_room));
    if (!refusal) co_return Refusal{};
    if (wanted) break;
  }
  if (!refusal) refusal = not_moved(503, "no other node has room for it");
  co_return refusal;
}

async::Task<Mover::Refusal> Mover::arrive_at(Journey& journey, NodeId to, bool& has_no_room) {
  has_no_room = false;
  if (parts_.nodes.roster().summary(to) == nullptr) {
    co_return not_moved(404, fmt::format("there is no node {}", to_string(to)));
  }
  CO_TRY(const std::string token, parts_.reissue.own(to, parts_.clock.wall()));
  http::Fields fields{{"Authorization", "Bearer " + token}};
  // In one cell it is one sandbox the whole time, whoever has it: one more unit is for another.
  std::optional<wire::Unit> unit;
  const bool is_counted = parts_.purses.ledger(journey.tenant) != nullptr;
  if (is_counted && to.cell != journey.passage.from.cell) {
    const auto taken = co_await parts_.purses.take(journey.tenant, to.cell);
    if (!taken) {
      co_return not_moved(taken.error().code() == Errc::exhausted ? 429 : 503,
                          fmt::format("cell {} has no unit of the quota of {} left: {}", to.cell,
                                      journey.tenant, taken.error().text()));
    }
    unit = *taken;
    fields.push_back({std::string{wire::kUnitField}, wire::to_text(*unit)});
  }
  // Undone there too from here on, also where its answer is lost.
  journey.passage.to = to;
  journey.has_arrived = true;
  parts_.nodes.roster().began(to);
  const auto answer = co_await ask(to,
                                   {.method = "POST",
                                    .path = fmt::format("/v1/node/arrivals?move={}&sandbox={}",
                                                        journey.passage.move, journey.sandbox),
                                    .fields = std::move(fields),
                                    .body = journey.traveller},
                                   kMaking);
  parts_.nodes.roster().ended(to);
  if (answer && answer->status < 300) co_return Refusal{};
  if (unit && answer) parts_.purses.give_back(journey.tenant, to.cell, *unit);
  if (!answer) co_return node_away(to, answer.error().text());
  has_no_room = http::count(answer->fields, kNoRoom) != 0;
  co_return refused_by(to, *answer);
}

}  // namespace cordon::fleet
