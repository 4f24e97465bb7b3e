// SPDX-License-Identifier: Apache-2.0
#include "mcp/judge.h"

#include <fmt/format.h>

#include "mcp/tool_policy.h"
#include "policy/checked.h"
#include "policy/explain.h"

namespace cordon::mcp {
namespace {

std::string fix_of(const policy::Explanation& explained, std::string_view server,
                   std::string_view tool) {
  std::string fix;
  for (const policy::Change& change : explained.changes) {
    if (!fix.empty()) fix += "; ";
    if (change.file == "command line" && change.edit == policy::Edit::add) {
      fix += fmt::format("--allow-tool {}, or [tools.{}] in a file of --policy", tool, server);
    } else {
      fix += to_string(change);
    }
  }
  return fix;
}

// What the author of the rule said about it.
std::string reason_of(const policy::Policy& policy, const policy::Decision& decision,
                      std::string_view server) {
  if (decision.document >= policy.documents().size()) return {};
  for (const policy::ToolServer& listed : policy.documents()[decision.document]->document().tools) {
    if (listed.name != server) continue;
    for (const policy::ToolRule& rule : listed.rules) {
      if (rule.place == decision.place) return rule.why;
    }
  }
  return {};
}

}  // namespace

Refused Judge::refusal(const Call& call, std::string code, std::string why) const {
  return {.code = std::move(code),
          .tried = fmt::format("call {}/{}", server_, call.tool),
          .resolved = fmt::format("arguments sha256:{}", call.digest),
          .rule = "default",
          .why = std::move(why),
          .action = "Do not repeat it; go on without it, or tell the person what it was for."};
}

Refused Judge::by_policy(const Call& call, const policy::ToolQuery& query) const {
  const policy::Explanation explained = policy::explain(policy_, query);
  Refused refused = refusal(call, "CORDON-TOOL-DENIED", explained.sentence);
  refused.rule = explained.rule;
  refused.fix = fix_of(explained, server_, call.tool);
  return refused;
}

bool Judge::is_within_budget(const Call& call, std::uint64_t most, Ticks now) {
  constexpr std::size_t kMostWindows = 4 * kMostPins;
  if (windows_.size() >= kMostWindows && !windows_.contains(call.tool)) return false;
  MinuteWindow& window = windows_.try_emplace(call.tool, most).first->second;
  window.set_most(most);
  return window.take(now);
}

Judged Judge::judge(const Call& call, Ticks now) {
  Judged judged;
  if (std::string why = pins_.why_not(call.tool); !why.empty()) {
    judged.refused = refusal(call, "CORDON-TOOL-CHANGED", std::move(why));
    judged.refused.rule = "pins";
    judged.refused.fix = accept_;
    return judged;
  }
  const policy::ToolQuery query{server_, call.tool, call.arguments};
  const policy::Decision decision = policy_.decide(query);
  judged.rule = policy::rule_of(policy_, decision);
  if (decision.effect == policy::Effect::deny) {
    judged.refused = by_policy(call, query);
    return judged;
  }
  const auto most = policy_.calls_per_minute(query);
  if (most && !is_within_budget(call, *most, now)) {
    judged.refused =
        refusal(call, "CORDON-TOOL-BUDGET",
                fmt::format("{} may be called {} times a minute, and was", call.tool, *most));
    judged.refused.rule = judged.rule;
    judged.refused.action = "Wait a minute before the next call.";
    return judged;
  }
  judged.effect = decision.effect;
  judged.why = reason_of(policy_, decision, server_);
  return judged;
}

bool Judge::is_refused(const std::string& tool) const {
  return is_refused_by_name(policy_, {server_, tool});
}

}  // namespace cordon::mcp
