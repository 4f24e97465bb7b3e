// SPDX-License-Identifier: Apache-2.0
// Tool calls: the most specific name decides; on a tie deny > ask > allow; conditions on arguments.
#include <gtest/gtest.h>

#include "policy/policy_text_test.h"

namespace cordon::policy {
namespace {

using enum Effect;
using enum Reason;

struct ToolRow {
  std::string_view tool;
  std::string_view arguments;
  Effect effect;
  Reason reason;
};

void expect_tools(const Policy& policy, std::initializer_list<ToolRow> rows) {
  for (const ToolRow& row : rows) {
    const Decision found = policy.decide(ToolQuery{"github", row.tool, row.arguments});
    EXPECT_EQ(found.effect, row.effect) << row.tool << row.arguments;
    EXPECT_EQ(found.reason, row.reason) << row.tool << row.arguments;
  }
}

TEST(ToolDecision, IsNoForServersAndToolsThatAreNotListed) {
  const Policy policy = policy_from("[tools.github]\nallow = [\"get_*\"]\n");
  EXPECT_EQ(policy.decide(ToolQuery{"gitlab", "get_x"}).reason, server_not_listed);
  EXPECT_EQ(policy.decide(ToolQuery{"GitHub", "get_x"}).reason, server_not_listed);
  EXPECT_EQ(policy.decide(ToolQuery{"", "get_x"}).reason, server_not_listed);
  expect_tools(policy, {{"get_x", "", allow, tool_rule},
                        {"get_", "", allow, tool_rule},
                        {"Get_x", "", deny, tool_not_listed},
                        {"list_x", "", deny, tool_not_listed},
                        {"xget_x", "", deny, tool_not_listed},
                        {"", "", deny, tool_not_listed}});
  expect_tools(policy_from("[tools.github]\n"), {{"get_x", "", deny, tool_not_listed}});
}

TEST(ToolDecision, GoesByTheMostSpecificName) {
  const Policy policy = policy_from(R"([tools.github]
allow = ["*", "delete_draft"]
deny = ["delete_*", "get_secret*"]
[[tools.github.rules]]
tool = "get_secret_name"
effect = "ask"
[[tools.github.rules]]
tool = "delete_d*"
effect = "ask"
)");
  expect_tools(policy, {{"anything", "", allow, tool_rule},
                        {"delete_repo", "", deny, tool_rule},
                        {"delete_draft", "", allow, tool_rule},
                        {"delete_draft2", "", ask, tool_rule},
                        {"get_secret", "", deny, tool_rule},
                        {"get_secret_name", "", ask, tool_rule}});
}

TEST(ToolDecision, OnATieTakesTheStricter) {
  const Policy policy = policy_from(R"([tools.github]
allow = ["a_*", "x", "y"]
deny = ["a_*x", "x"]
[[tools.github.rules]]
tool = "*_a"
effect = "ask"
[[tools.github.rules]]
tool = "y"
effect = "ask"
[[tools.github.rules]]
tool = "*_z"
effect = "deny"
)");
  expect_tools(policy, {{"x", "", deny, tool_rule},
                        {"y", "", ask, tool_rule},
                        {"a_a", "", ask, tool_rule},
                        {"a_z", "", deny, tool_rule},
                        {"a_b", "", allow, tool_rule}});
}

constexpr std::string_view kConditional = R"([tools.github]
allow = ["*"]
[[tools.github.rules]]
tool = "create_issue"
effect = "allow"
arguments = { properties = { repo = { const = "acme/shop" } }, required = ["repo"] }
calls_per_minute = 10
[[tools.github.rules]]
tool = "delete_*"
effect = "deny"
arguments = { properties = { force = { const = true } }, required = ["force"] }
)";

TEST(ToolDecision, ByAConditionAllowsOnlyWhereItHoldsAndDeniesOnlyWhereItHolds) {
  expect_tools(
      policy_from(kConditional),
      {
          {"create_issue", R"({"repo":"acme/shop"})", allow, tool_rule},
          {"create_issue", R"({"repo":"acme/shop","body":"one\ntwo\t"})", allow, tool_rule},
          {"create_issue", R"({"repo":"acme/other"})", deny, arguments_mismatch},
          {"create_issue", "", deny, arguments_mismatch},
          {"create_issue", "{}", deny, arguments_mismatch},
          {"delete_x", R"({"force":true})", deny, tool_rule},
          {"delete_x", R"({"force":true,"note":"a\nb"})", deny, tool_rule},
          {"delete_x", R"({"force":false})", allow, tool_rule},
          {"delete_x", "", allow, tool_rule},
      });
}

// Otherwise a rule that denies by its condition could be talked away: the server may well read what
// we could not.
TEST(ToolDecision, RefusesArgumentsThatCannotBeJudged) {
  const std::string deep = std::string(40, '[') + "1" + std::string(40, ']');
  std::string many = "1";
  for (int i = 0; i < 5000; ++i) many += ",1";
  const std::vector<std::string> hostile = {
      R"({"force":true,"force":false})",
      R"({"force":false,"\u0066orce":true})",
      R"({"force":true,"x":)" + deep + "}",
      R"({"force":true,"x":[)" + many + "]}",
      R"({"force":true,"x":1e999})",
      R"({"force":true,"x":99999999999999999999})",
      R"({"force":true,"x":"\ud800"})",
      R"({"force":true,"x":"\u0000"})",
      R"({"force":true,"x":[{"y\u0000":1}]})",
      R"({"repo":"acme/shop\u0000/../other"})",
      R"({"force":true)",
      R"({"force":true} x)",
      R"([{"force":true}])",
      R"("force")",
      "null",
      "force=true",
      " ",
      std::string{"{\"force\":true,\"x\":\""} + "\xFF" + "\"}",
      R"({"force":true,"x":")" + std::string(2U << 20U, 'a') + "\"}",
  };
  const Policy policy = policy_from(kConditional);
  for (const std::string& arguments : hostile) {
    expect_tools(policy, {{"delete_x", arguments, deny, arguments_unreadable},
                          {"create_issue", arguments, deny, arguments_unreadable}});
  }
  // A tool without a condition never looks at them.
  expect_tools(policy, {{"get_x", "null", allow, tool_rule}});
}

TEST(ToolDecision, HoldsEveryKeywordOfASchema) {
  struct Case {
    std::string_view schema, good, bad;
  };
  const Case cases[] = {
      {R"({ properties = { a = { type = "string" } } })", R"({"a":"1"})", R"({"a":1})"},
      {R"({ properties = { a = { type = "integer" } } })", R"({"a":1})", R"({"a":"1"})"},
      {R"({ properties = { a = { type = "integer" } } })", R"({"a":1})", R"({"a":1.5})"},
      {R"({ properties = { a = { type = "boolean" } } })", R"({"a":true})", R"({"a":"true"})"},
      {R"({ properties = { a = { type = ["null", "array"] } } })", R"({"a":null})", R"({"a":""})"},
      {R"({ properties = { a = { const = 5 } } })", R"({"a":5})", R"({"a":"5"})"},
      {R"({ properties = { a = { enum = ["x", 1] } } })", R"({"a":1})", R"({"a":"1"})"},
      {R"({ required = ["a"] })", R"({"a":1})", R"({"b":1})"},
      {R"({ properties = { a = {} }, additionalProperties = false })", R"({"a":1})", R"({"b":1})"},
      {R"({ additionalProperties = { type = "string" } })", R"({"a":""})", R"({"a":1})"},
      {R"({ minProperties = 1 })", R"({"a":1})", R"({})"},
      {R"({ maxProperties = 1 })", R"({"a":1})", R"({"a":1,"b":1})"},
      {R"({ properties = { a = { items = { type = "string" } } } })", R"({"a":["x"]})",
       R"({"a":["x",1]})"},
      {R"({ properties = { a = { minItems = 1, maxItems = 2 } } })", R"({"a":[1]})",
       R"({"a":[1,2,3]})"},
      {R"({ properties = { a = { uniqueItems = true } } })", R"({"a":[1,2]})", R"({"a":[1,1]})"},
      {R"({ properties = { a = { minLength = 1, maxLength = 2 } } })", R"({"a":"üü"})",
       R"({"a":"abc"})"},
      {R"({ properties = { a = { minimum = 1, maximum = 2 } } })", R"({"a":2})", R"({"a":2.5})"},
      {R"({ properties = { a = { exclusiveMaximum = 2 } } })", R"({"a":1.9})", R"({"a":2})"},
      {R"({ properties = { a = { exclusiveMinimum = 2 } } })", R"({"a":2.1})", R"({"a":2})"},
      {R"({ allOf = [{ required = ["a"] }, { required = ["b"] }] })", R"({"a":1,"b":1})",
       R"({"a":1})"},
      {R"({ anyOf = [{ required = ["a"] }, { required = ["b"] }] })", R"({"b":1})", R"({})"},
      {R"({ oneOf = [{ required = ["a"] }, { required = ["b"] }] })", R"({"a":1})",
       R"({"a":1,"b":1})"},
      {R"({ not = { required = ["a"] } })", R"({"b":1})", R"({"a":1})"},
      {R"({ type = "object", title = "t", description = "d" })", R"({})", R"([])"},
  };
  for (const Case& one : cases) {
    const Policy policy =
        policy_from("[[tools.github.rules]]\ntool = \"x\"\neffect = \"allow\"\narguments = " +
                    std::string{one.schema} + "\n");
    expect_tools(policy, {{"x", one.good, allow, tool_rule},
                          {"x", one.bad, deny,
                           one.bad == "[]" ? arguments_unreadable : arguments_mismatch}});
  }
}

TEST(ToolDecision, TakesTheSmallestRateOfTheRulesThatHold) {
  const Policy policy = policy_from(R"([[tools.github.rules]]
tool = "x"
effect = "allow"
calls_per_minute = 10
[[tools.github.rules]]
tool = "x"
effect = "ask"
calls_per_minute = 20
[[tools.github.rules]]
tool = "*"
effect = "allow"
calls_per_minute = 1
)");
  EXPECT_EQ(policy.calls_per_minute({"github", "x"}), 10U);
  EXPECT_EQ(policy.calls_per_minute({"github", "y"}), 1U);
  EXPECT_EQ(policy.calls_per_minute({"gitlab", "y"}), std::nullopt);
  EXPECT_EQ(policy.decide(ToolQuery{"github", "x"}).effect, ask);
  const Policy slower =
      attenuate(policy, policy_from("[[tools.github.rules]]\ntool = \"*\"\neffect = \"allow\"\n"
                                    "calls_per_minute = 3\n"));
  EXPECT_EQ(slower.calls_per_minute({"github", "x"}), 3U);
  EXPECT_EQ(slower.calls_per_minute({"github", "y"}), 1U);
}

TEST(ToolDecision, IsLeftAloneByAWorkspaceFileThatDoesNotNameTheServer) {
  const Policy policy = policy_from("[tools.github]\nallow = [\"*\"]\n");
  expect_tools(narrowed(policy, "[tools.gitlab]\nallow = [\"*\"]\n"),
               {{"x", "", allow, tool_rule}});
  expect_tools(narrowed(policy, "[tools.github]\nallow = [\"get_*\"]\n"),
               {{"get_x", "", allow, tool_rule}, {"x", "", deny, tool_not_listed}});
  EXPECT_EQ(
      narrowed(policy, "[tools.gitlab]\nallow = [\"*\"]\n").decide(ToolQuery{"gitlab", "x"}).effect,
      deny);
}

}  // namespace
}  // namespace cordon::policy
