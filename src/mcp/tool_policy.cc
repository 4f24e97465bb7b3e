// SPDX-License-Identifier: Apache-2.0
#include "mcp/tool_policy.h"

#include <algorithm>
#include <optional>

#include "policy/checked.h"

namespace cordon::mcp {
namespace {

using policy::PolicyDocument;

frame::RulePlace sent_place(const policy::Place& place) {
  return {.source = place.source, .line = place.mark.line, .column = place.mark.column};
}

ToolServerSent sent_server(const policy::ToolServer& server) {
  ToolServerSent sent{.name = server.name, .place = sent_place(server.place)};
  for (const policy::ToolRule& rule : server.rules) {
    sent.rules.push_back({.tool = rule.tool,
                          .effect = static_cast<std::uint8_t>(rule.effect),
                          .arguments = rule.arguments,
                          .calls_per_minute = rule.calls_per_minute,
                          .why = rule.why,
                          .place = sent_place(rule.place)});
  }
  return sent;
}

Result<policy::Origin> origin_of(std::uint8_t value) {
  if (value > static_cast<std::uint8_t>(policy::Origin::workspace))
    return Error{Errc::invalid, "rules for tools: an origin that does not exist"};
  return static_cast<policy::Origin>(value);
}

Result<policy::Place> place_of(const ToolDocument& document, const frame::RulePlace& at) {
  if (at.source >= document.files.size())
    return Error{Errc::invalid, "rules for tools: one of a file that is not named"};
  return policy::Place{.source = at.source, .mark = {at.line, at.column}};
}

Result<policy::ToolRule> rule_of_sent(const ToolDocument& document, const ToolRuleSent& sent) {
  if (sent.effect > static_cast<std::uint8_t>(policy::Effect::allow))
    return Error{Errc::invalid, "rules for tools: an effect that does not exist"};
  policy::ToolRule rule{.tool = sent.tool,
                        .effect = static_cast<policy::Effect>(sent.effect),
                        .arguments = sent.arguments,
                        .calls_per_minute = sent.calls_per_minute,
                        .why = sent.why};
  TRY(rule.place, place_of(document, sent.place));
  return rule;
}

Result<PolicyDocument> document_of(const ToolDocument& sent) {
  if (sent.files.empty()) return Error{Errc::invalid, "rules for tools: no file is named"};
  PolicyDocument document;
  for (const frame::NetFile& file : sent.files) {
    TRY(const auto origin, origin_of(file.origin));
    document.sources.push_back({file.name, origin});
  }
  for (const ToolServerSent& server : sent.servers) {
    policy::ToolServer& read = document.tools.emplace_back();
    read.name = server.name;
    TRY(read.place, place_of(sent, server.place));
    for (const ToolRuleSent& rule : server.rules) {
      TRY(policy::ToolRule one, rule_of_sent(sent, rule));
      read.rules.push_back(std::move(one));
    }
  }
  return document;
}

}  // namespace

std::vector<ToolDocument> tool_documents_of(const policy::Policy& policy, std::string_view server) {
  std::vector<ToolDocument> documents;
  for (const auto& checked : policy.documents()) {
    ToolDocument& sent = documents.emplace_back();
    sent.origin = static_cast<std::uint8_t>(checked->origin());
    for (const policy::Source& source : checked->document().sources) {
      sent.files.push_back({source.name, static_cast<std::uint8_t>(source.origin)});
    }
    for (const policy::ToolServer& listed : checked->document().tools) {
      if (listed.name == server) sent.servers.push_back(sent_server(listed));
    }
  }
  return documents;
}

Result<policy::Policy> policy_of(std::span<const ToolDocument> documents) {
  std::optional<policy::Policy> whole;
  for (const ToolDocument& sent : documents) {
    TRY(const auto origin, origin_of(sent.origin));
    TRY(PolicyDocument document, document_of(sent));
    if (origin == policy::Origin::workspace) {
      if (!whole) return Error{Errc::invalid, "rules for tools: a workspace file is no policy"};
      TRY(whole, policy::narrow(*whole, std::move(document), {}));
      continue;
    }
    TRY(policy::Policy checked, policy::check(std::move(document), origin, {}));
    whole = whole ? policy::attenuate(*whole, checked) : std::move(checked);
  }
  if (!whole) return Error{Errc::invalid, "rules for tools: there are none"};
  return *std::move(whole);
}

bool is_refused_by_name(const policy::Policy& policy, const policy::ToolQuery& query) {
  return std::ranges::any_of(policy.documents(), [&](const auto& checked) {
    const policy::Decision decision = checked->decide(query);
    if (decision.effect != policy::Effect::deny) return false;
    if (decision.reason == policy::Reason::server_not_listed ||
        decision.reason == policy::Reason::tool_not_listed) {
      return true;
    }
    if (decision.reason != policy::Reason::tool_rule) return false;
    const auto unconditional = [&](const policy::ToolRule& rule) {
      return rule.place == decision.place && rule.arguments.empty();
    };
    return std::ranges::any_of(checked->document().tools, [&](const policy::ToolServer& server) {
      return server.name == query.server && std::ranges::any_of(server.rules, unconditional);
    });
  });
}

}  // namespace cordon::mcp
