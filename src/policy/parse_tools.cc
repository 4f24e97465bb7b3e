// SPDX-License-Identifier: Apache-2.0
// MCP servers and the rules over their tools.
#include <algorithm>

#include <fmt/format.h>

#include "policy/argument_schema.h"
#include "policy/parse_sections.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

// What MCP allows in a tool's name, and `*`.
bool is_tool_pattern(std::string_view pattern) {
  return !pattern.empty() && pattern.size() <= 128 && std::ranges::all_of(pattern, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '*';
  });
}

void check_pattern(std::string_view pattern, Mark mark, Problems& problems) {
  if (!is_tool_pattern(pattern)) {
    problems.add(mark, fmt::format("{} is no tool name or pattern (A-Z, a-z, 0-9, _, -, . and *)",
                                   in_quotes(pattern)));
  }
}

void add_plain(const Section& section, std::string_view key, Effect effect, ToolServer& server) {
  for (auto& text : section.texts(key).items) {
    check_pattern(text.value, text.place.mark, section.problems());
    server.rules.push_back({.tool = std::move(text.value), .effect = effect, .place = text.place});
  }
}

ToolRule parse_rule(const Section& section) {
  ToolRule rule;
  rule.place = section.place();
  rule.tool = section.required("tool", "a rule of a tool");
  if (!rule.tool.empty()) check_pattern(rule.tool, section.find("tool")->mark, section.problems());
  if (const auto effect =
          choice_of(section, "effect", {Effect::allow, Effect::ask, Effect::deny})) {
    rule.effect = effect->value;
  } else {
    section.problem("effect", "a rule of a tool needs `effect`: allow, ask or deny");
  }
  if (const Value* const schema = section.find("arguments")) {
    const std::size_t before = section.problems().all().size();
    check_argument_schema(*schema, section.problems());
    rule.arguments = to_json(*schema);
    if (section.problems().all().size() == before) {
      if (const auto compiled = ArgumentSchema::compile(rule.arguments); !compiled) {
        section.problem("arguments", compiled.error().text());
      }
    }
  }
  if (const auto calls = section.integer("calls_per_minute")) rule.calls_per_minute = calls->value;
  if (auto why = section.text("why")) rule.why = std::move(why->value);
  return rule;
}

bool is_server_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

}  // namespace

std::vector<ToolServer> parse_tools(const Section& section) {
  std::vector<ToolServer> servers;
  for (const Entry& entry : section.entries()) {
    if (!is_server_name(entry.key)) {
      section.problems().add(entry.mark,
                             fmt::format("{}: a server's name is 1 to 64 of A-Z, a-z, 0-9, _ and -",
                                         in_quotes(entry.key)));
    }
    const Section table{&entry.value, section.problems()};
    ToolServer server{.name = entry.key, .rules = {}, .place = {0, entry.mark}};
    add_plain(table, "allow", Effect::allow, server);
    add_plain(table, "deny", Effect::deny, server);
    for (const Section& item : table.tables("rules")) server.rules.push_back(parse_rule(item));
    servers.push_back(std::move(server));
  }
  return servers;
}

}  // namespace cordon::policy
