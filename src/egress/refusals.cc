// SPDX-License-Identifier: Apache-2.0
#include "egress/refusals.h"

#include <fmt/format.h>

#include "policy/explain.h"
#include "policy/text.h"

namespace cordon::egress {
namespace {

constexpr std::string_view kByFlags = "command line";
constexpr std::string_view kAsk = "do not retry; ask a person to allow it";

// What a person may type: the flag where the flags are the policy, the edit where a file is.
std::string fix_of(const policy::Explanation& explanation, const policy::NetQuery& query) {
  if (explanation.changes.empty()) return {};
  const policy::Change& first = explanation.changes.front();
  if (first.edit == policy::Edit::none) return {};
  // Of a request a flag would allow too much.
  if (first.file == kByFlags && first.edit != policy::Edit::remove && query.method.empty()) {
    return fmt::format("--allow-net {}:{}", policy::printable(query.host), query.port);
  }
  return to_string(first);
}

frame::NetRefused explained(std::string_view code, std::string tried, const policy::Policy& policy,
                            const policy::NetQuery& query) {
  const policy::Explanation explanation = explain(policy, query);
  return {.code = std::string{code},
          .tried = std::move(tried),
          .rule = explanation.rule,
          .why = explanation.sentence,
          .fix = fix_of(explanation, query),
          .action = std::string{kAsk}};
}

}  // namespace

frame::NetRefused refused_name(const policy::Policy& policy, std::string_view name) {
  return explained(kNameRefused, fmt::format("look up {}", policy::printable(name)), policy,
                   {.host = name});
}

frame::NetRefused refused_by_policy(const policy::Policy& policy, const policy::NetQuery& query) {
  const std::string target = fmt::format("{}:{}", policy::printable(query.host), query.port);
  if (query.method.empty()) {
    return explained(kHostRefused, "connect " + target, policy, query);
  }
  return explained(kRequestRefused,
                   fmt::format("{} {}{}", policy::printable(query.method), target,
                               policy::printable(query.path)),
                   policy, query);
}

frame::NetRefused refused_connection(std::string_view code, std::string_view host,
                                     std::uint16_t port, std::string why) {
  return {.code = std::string{code},
          .tried = fmt::format("connect {}:{}", policy::printable(host), port),
          .rule = "default",
          .why = std::move(why)};
}

frame::NetRefused refused_budget(std::string_view host, std::uint16_t port, std::string why,
                                 std::string rule) {
  frame::NetRefused refused = refused_connection(kBudgetRefused, host, port, std::move(why));
  refused.rule = std::move(rule);
  return refused;
}

std::string rule_of(BudgetKind kind, const frame::NetBudgets& budgets) {
  const auto written = [](std::string_view key, bool stated, const std::string& rule) {
    if (!stated) return fmt::format("default of {}", key);
    return rule.empty() ? std::string{key} : fmt::format("{}, {}", key, rule);
  };
  switch (kind) {
    case BudgetKind::connections:
      return written("network.connections", budgets.connections.has_value(),
                     budgets.connections_rule);
    case BudgetKind::requests:
      return written("network.requests_per_minute", budgets.requests_per_minute.has_value(),
                     budgets.requests_rule);
    case BudgetKind::bytes:
      return written("resources.egress_limit", budgets.bytes.has_value(), budgets.bytes_rule);
    case BudgetKind::names:
      break;
  }
  return "default of new names";
}

}  // namespace cordon::egress
