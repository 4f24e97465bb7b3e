// SPDX-License-Identifier: Apache-2.0
// Decisions over tool calls: the most specific name decides; on a tie deny > ask > allow.
#include <algorithm>

#include "policy/checked.h"

namespace cordon::policy {
namespace {

// A name without `*` is more specific than any pattern.
std::size_t specificity(std::string_view pattern) {
  return pattern.find('*') == std::string_view::npos ? SIZE_MAX : literal_characters(pattern);
}

}  // namespace

CheckedDocument::ToolMatch CheckedDocument::match_tool(const ToolQuery& query) const {
  const auto server = servers_.find(query.server);
  if (server == servers_.end()) {
    if (narrows_only())
      return {{.effect = Effect::allow, .reason = Reason::no_opinion}, std::nullopt};
    return {{.reason = Reason::server_not_listed}, std::nullopt};
  }
  const ToolServer& listed = document_.tools[server->second];
  const auto& conditions = conditions_[server->second];
  const std::string_view arguments =
      query.arguments.empty() ? std::string_view{"{}"} : query.arguments;

  // From the most specific names down. A condition that does not hold makes an allowing rule refuse
  // (it said under which arguments the tool may be called), and a denying one vanish (it said under
  // which it may not).
  for (std::size_t below = SIZE_MAX, level = 0;; below = level - 1) {
    bool found = false;
    level = 0;
    for (const ToolRule& rule : listed.rules) {
      const std::size_t s = specificity(rule.tool);
      if (s > below || !glob_matches(rule.tool, query.tool)) continue;
      level = found ? std::max(level, s) : s;
      found = true;
    }
    if (!found) return {{.reason = Reason::tool_not_listed, .place = listed.place}, std::nullopt};

    std::optional<ToolMatch> held;
    std::optional<Place> unmet;
    for (std::size_t i = 0; i < listed.rules.size(); ++i) {
      const ToolRule& rule = listed.rules[i];
      if (specificity(rule.tool) != level || !glob_matches(rule.tool, query.tool)) continue;
      const auto holds = conditions[i] ? conditions[i]->accepts(arguments) : true;
      if (!holds)
        return {{.reason = Reason::arguments_unreadable, .place = rule.place}, std::nullopt};
      if (!*holds) {
        if (rule.effect != Effect::deny) unmet = rule.place;
        continue;
      }
      if (!held || rule.effect < held->decision.effect) {
        const auto rate = held ? held->calls_per_minute : std::nullopt;
        held = {{.effect = rule.effect, .reason = Reason::tool_rule, .place = rule.place}, rate};
      }
      if (rule.calls_per_minute) {
        held->calls_per_minute =
            std::min(held->calls_per_minute.value_or(UINT64_MAX), *rule.calls_per_minute);
      }
    }
    if (held) return *held;
    if (unmet) return {{.reason = Reason::arguments_mismatch, .place = *unmet}, std::nullopt};
    if (level == 0)
      return {{.reason = Reason::tool_not_listed, .place = listed.place}, std::nullopt};
  }
}

Decision CheckedDocument::decide(const ToolQuery& query) const {
  return match_tool(query).decision;
}

std::optional<std::uint64_t> CheckedDocument::calls_per_minute(const ToolQuery& query) const {
  return match_tool(query).calls_per_minute;
}

}  // namespace cordon::policy
