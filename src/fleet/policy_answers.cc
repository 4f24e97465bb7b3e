// SPDX-License-Identifier: Apache-2.0
// What a gateway answers of the fleet's policy: how a release gets on, and who moves it.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "fleet/gateway.h"
#include "fleet/policy_desk.h"
#include "gate/release.h"
#include "wire/json_writer.h"

namespace cordon::fleet {
namespace {

constexpr std::string_view kPath = "/v1/fleet/policy/";
constexpr std::uint64_t kLongestSoak = 86'400;

void write_stand(wire::JsonWriter& json, const PolicyDesk::Stand& stand) {
  if (!stand.rollout) return json.text("stage", "none");
  const Rollout& rollout = *stand.rollout;
  json.text("stage", to_string(rollout.stage));
  json.number("release", rollout.release);
  json.number("before", rollout.before);
  json.key("canaries");
  json.begin_array();
  for (const NodeId node : rollout.canaries) json.text(to_string(node));
  json.end_array();
  json.key("cells");
  json.begin_array();
  for (const std::uint16_t cell : rollout.cells) json.text(std::to_string(cell));
  json.end_array();
  json.number("soak_seconds", std::int64_t{rollout.soak.count()});
  json.boolean("may_turn_away", rollout.may_turn_away);
  json.text("sha256", rollout.sha256);
  json.text("by", rollout.by);
  if (!rollout.why.empty()) json.text("why", rollout.why);
  if (!stand.words.empty()) json.text("words", stand.words);
}

void write_node(wire::JsonWriter& json, const NodeRelease& node, const PolicyDesk::Stand& stand) {
  json.begin_object();
  json.text("node", to_string(node.node));
  json.boolean("present", node.is_present);
  if (stand.rollout) json.number("meant", release_for(*stand.rollout, node.node));
  json.number("release", node.release);
  if (node.refused != 0) {
    json.number("refused", node.refused);
    json.text("why", node.why);
  }
  if (node.turned_away != 0) json.number("turned_away", node.turned_away);
  json.end_object();
}

async::Task<void> answer_stand(Asked& asked, const PolicyDesk& desk, PolicyDesk::Stand stand) {
  wire::JsonWriter json;
  json.begin_object();
  write_stand(json, stand);
  json.key("nodes");
  json.begin_array();
  for (const NodeRelease& node : desk.nodes()) write_node(json, node, stand);
  json.end_array();
  json.end_object();
  co_return co_await answer_json(asked, 200, json.take());
}

Result<std::vector<NodeId>> canaries_of(std::string_view list) {
  std::vector<NodeId> canaries;
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    const auto node = node_named(name);
    if (!node) return Error{Errc::invalid, "`canary`: nodes like 1.42,2.7"};
    canaries.push_back(*node);
  }
  return canaries;
}

std::string name_of(const gate::Bearer& bearer) {
  const auto& ids = bearer.authority.revocations();
  return ids.empty() ? std::string{"the gateway's own socket"} : "the token " + to_hex(ids.back());
}

}  // namespace

async::Task<void> Gateway::has_one_policy(Asked& asked) {
  co_return co_await answer_problem(
      asked,
      {.status = 400,
       .code = "CORDON-API-INVALID",
       .detail = "a fleet has one policy for all its nodes, which get it one after the other",
       .remedy = "PUT /v1/fleet/policy, or `cordon fleet policy push`"});
}

// /v1/fleet/policy
async::Task<void> Gateway::fleet_policy(Asked& asked) {
  CO_TRY(PolicyDesk::Stand stand, co_await parts_.policy.look());
  co_return co_await answer_stand(asked, parts_.policy, std::move(stand));
}

// /v1/fleet/policy/7
async::Task<void> Gateway::policy_text(Asked& asked) {
  const std::string_view digits =
      std::string_view{asked.exchange.head().target.path}.substr(kPath.size());
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc{} || end != digits.data() + digits.size()) {
    co_return Error{Errc::not_found, "of the policy: releases by their number"};
  }
  CO_TRY(std::string text, co_await parts_.policy.text_of(number));
  co_return co_await asked.exchange.answer(200, {{"Content-Type", "text/plain; charset=utf-8"}},
                                           std::move(text));
}

async::Task<void> Gateway::push_policy(Asked& asked) {
  CO_TRY(const gate::Query query, query_of(asked));
  CO_TRY_DO(gate::only_known(query, {"canary", "soak_seconds", "may_turn_away"}));
  PolicyDesk::Push push{.by = name_of(asked.bearer)};
  if (const auto named = query.find("canary"); named != query.end()) {
    CO_TRY(push.canaries, canaries_of(named->second));
  }
  CO_TRY(const auto soak, gate::number_of(query, "soak_seconds"));
  if (soak.value_or(0) > kLongestSoak) {
    co_return Error{Errc::invalid, fmt::format("`soak_seconds`: at most {}, a day", kLongestSoak)};
  }
  if (soak) push.soak = std::chrono::seconds{*soak};
  if (const auto may = query.find("may_turn_away"); may != query.end()) {
    if (may->second != "true" && may->second != "false") {
      co_return Error{Errc::invalid, "`may_turn_away`: true or false"};
    }
    push.may_turn_away = may->second == "true";
  }
  CO_TRY(push.text, co_await asked.exchange.read_body(gate::kLargestRelease));
  CO_TRY(PolicyDesk::Stand stand, co_await parts_.policy.push(std::move(push)));
  co_return co_await answer_stand(asked, parts_.policy, std::move(stand));
}

// /v1/fleet/policy/advance
async::Task<void> Gateway::move_policy(Asked& asked) {
  const std::string_view act =
      std::string_view{asked.exchange.head().target.path}.substr(kPath.size());
  if (act != "advance" && act != "rollback") {
    co_return Error{Errc::not_found, "of the policy: advance and rollback"};
  }
  PolicyDesk::Stand stand;
  if (act == "advance") {
    CO_TRY(stand, co_await parts_.policy.step());
  } else {
    CO_TRY(stand, co_await parts_.policy.roll_back(name_of(asked.bearer)));
  }
  co_return co_await answer_stand(asked, parts_.policy, std::move(stand));
}

}  // namespace cordon::fleet
