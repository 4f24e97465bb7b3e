// SPDX-License-Identifier: Apache-2.0
// Decisions over tool calls: the most specific name decides; on a tie deny > ask > allow.
#include <algorithm>
#include <span>

#include "policy/checked.h"

namespace cordon::policy {
namespace {

// A name without `*` is more specific than any pattern.
std::size_t specificity(std::string_view pattern) {
  return pattern.find('*') == std::string_view::npos ? SIZE_MAX : literal_characters(pattern);
}

}  // namespace

// A condition that does not hold makes an allowing rule refuse (it said under which arguments the
// tool may be called), and a denying one vanish (it said under which it may not).
std::optional<CheckedDocument::ToolMatch> CheckedDocument::judge_rules(
    std::uint32_t server, std::span<const std::uint32_t> rules, std::string_view arguments) const {
  std::optional<ToolMatch> met;
  std::optional<Place> unmet;
  for (const std::uint32_t i : rules) {
    const ToolRule& rule = document_.tools[server].rules[i];
    const auto& condition = conditions_[server][i];
    const std::optional<bool> holds = condition ? condition->accepts(arguments) : true;
    if (!holds.has_value())
      return ToolMatch{{.reason = Reason::arguments_unreadable, .place = rule.place}, {}};
    if (!holds.value()) {
      if (rule.effect != Effect::deny) unmet = rule.place;
      continue;
    }
    if (!met) met = {{.effect = rule.effect, .reason = Reason::tool_rule, .place = rule.place}, {}};
    if (rule.effect < met->decision.effect) {
      met->decision.effect = rule.effect;
      met->decision.place = rule.place;
    }
    if (rule.calls_per_minute) {
      met->calls_per_minute =
          std::min(met->calls_per_minute.value_or(UINT64_MAX), *rule.calls_per_minute);
    }
  }
  if (!met && unmet) return ToolMatch{{.reason = Reason::arguments_mismatch, .place = *unmet}, {}};
  return met;
}

CheckedDocument::ToolMatch CheckedDocument::match_tool(const ToolQuery& query) const {
  const auto server = servers_.find(query.server);
  if (server == servers_.end()) {
    if (narrows_only()) return {{.effect = Effect::allow, .reason = Reason::no_opinion}, {}};
    return {{.reason = Reason::server_not_listed}, {}};
  }
  const ToolServer& listed = document_.tools[server->second];
  const std::string_view arguments =
      query.arguments.empty() ? std::string_view{"{}"} : query.arguments;

  std::vector<std::uint32_t> matching;
  for (std::uint32_t i = 0; i < listed.rules.size(); ++i) {
    if (glob_matches(listed.rules[i].tool, query.tool)) matching.push_back(i);
  }
  const auto level_of = [&](std::uint32_t i) { return specificity(listed.rules[i].tool); };
  std::ranges::sort(matching, {}, [&](std::uint32_t i) { return std::pair{~level_of(i), i}; });
  for (std::span<const std::uint32_t> rest = matching; !rest.empty();) {
    const auto end = std::ranges::find_if(
        rest, [&](std::uint32_t i) { return level_of(i) != level_of(rest.front()); });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    if (const auto judged = judge_rules(server->second, rest.first(count), arguments))
      return *judged;
    rest = rest.subspan(count);
  }
  return {{.reason = Reason::tool_not_listed, .place = listed.place}, {}};
}

Decision CheckedDocument::decide(const ToolQuery& query) const {
  return match_tool(query).decision;
}

std::optional<std::uint64_t> CheckedDocument::calls_per_minute(const ToolQuery& query) const {
  return match_tool(query).calls_per_minute;
}

}  // namespace cordon::policy
