// SPDX-License-Identifier: Apache-2.0
// Decisions over tool calls, in words.
#include <algorithm>

#include <fmt/format.h>

#include "policy/explain_parts.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

const ToolRule* rule_at(const Spoken& spoken, const ToolQuery& query) {
  for (const ToolServer& server : spoken.document().tools) {
    if (server.name != query.server) continue;
    const auto found = std::ranges::find(server.rules, spoken.decision.place, &ToolRule::place);
    if (found != server.rules.end()) return &*found;
  }
  return nullptr;
}

std::string sentence(const Spoken& spoken, const ToolQuery& query) {
  const std::string tool = fmt::format("{}/{}", printable(query.server), printable(query.tool));
  const ToolRule* const rule = rule_at(spoken, query);
  switch (spoken.decision.reason) {
    case Reason::server_not_listed:
      return fmt::format("there is no [tools.{}]: no tool of that server may be called",
                         printable(query.server));
    case Reason::tool_not_listed:
      return fmt::format("{} matches no rule of its server", tool);
    case Reason::tool_rule:
      return fmt::format("{} matches {}, whose effect is {}", tool,
                         rule == nullptr ? "a rule" : in_quotes(rule->tool),
                         to_string(spoken.decision.effect));
    case Reason::arguments_unreadable:
      return fmt::format(
          "the arguments of {} cannot be judged: they are not one JSON object without duplicate "
          "keys",
          tool);
    case Reason::arguments_mismatch:
      return fmt::format("the arguments of {} do not satisfy the rule for {}", tool,
                         rule == nullptr ? "it" : in_quotes(rule->tool));
    default:
      return fmt::format("nothing speaks against {}", tool);
  }
}

Change to_allow(const Spoken& spoken, const ToolQuery& query) {
  const std::string allow = fmt::format("tools.{}.allow", printable(query.server));
  const std::string rules = fmt::format("tools.{}.rules[]", printable(query.server));
  switch (spoken.decision.reason) {
    case Reason::server_not_listed:
    case Reason::tool_not_listed:
      return spoken.add(allow, toml_text(query.tool));
    case Reason::arguments_unreadable:
      return spoken.none("no policy can allow it; send one JSON object without duplicate keys");
    case Reason::arguments_mismatch:
      if (spoken.from_preset()) return spoken.remove(allow);
      return {Edit::set, spoken.file(), rules + ".arguments",
              "{ … }, a schema that the call satisfies,", spoken.rule()};
    default: {
      const ToolRule* const rule = rule_at(spoken, query);
      // A pattern that refuses gives way to the tool's own name, which is more specific.
      if (rule != nullptr && rule->tool != query.tool)
        return spoken.add(allow, toml_text(query.tool));
      if (spoken.decision.effect == Effect::ask && !spoken.from_preset()) {
        return {Edit::set, spoken.file(), rules + ".effect", "\"allow\"", spoken.rule()};
      }
      return spoken.remove(fmt::format("tools.{}", printable(query.server)));
    }
  }
}

std::vector<Change> to_refuse(const Spoken& spoken, const ToolQuery& query) {
  return {spoken.add(fmt::format("tools.{}.deny", printable(query.server)), toml_text(query.tool))};
}

struct ToolWords {
  const ToolQuery& query;
  std::string sentence(const Spoken& spoken) const { return policy::sentence(spoken, query); }
  Change to_allow(const Spoken& spoken) const { return policy::to_allow(spoken, query); }
  std::vector<Change> to_refuse(const Spoken& spoken) const {
    return policy::to_refuse(spoken, query);
  }
};

}  // namespace

Explanation explain(const Policy& policy, const ToolQuery& query) {
  return explain_with(policy, query, ToolWords{query});
}

}  // namespace cordon::policy
