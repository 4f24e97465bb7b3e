// SPDX-License-Identifier: Apache-2.0
// What single caveats take away, and the words in which it is said.
#include "token/authority.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policy/parse.h"
#include "token/tokens_test.h"

namespace cordon::token {
namespace {

Authority authority_with(std::vector<Caveat> more = {}, bool is_operator = false) {
  auto tried = try_at_node(token_with(std::move(more), is_operator));
  EXPECT_TRUE(tried.authority) << to_string(tried.refused.fault);
  return *std::move(tried.authority);
}

std::optional<Refuser> refuser(const Authority& authority, const Query& query) {
  return authority.may(query, kNow).by;
}

Query about(Operation operation, std::optional<std::string_view> path = {}) {
  return {.operation = operation, .tenant = "acme", .sandbox = "aaaa", .path = path};
}

TEST(Authority, OfATenantIsForItsOwnThingsOnly) {
  const Authority authority = authority_with();
  Query query = about(Operation::file_read, "/x");
  EXPECT_FALSE(refuser(authority, query));
  query.tenant = "other";
  EXPECT_EQ(refuser(authority, query), Refuser::tenant);
  query.tenant = "";
  EXPECT_EQ(refuser(authority, query), Refuser::tenant);
}

TEST(Authority, OfATenantNeverReachesTheNode) {
  const Authority tenants = authority_with();
  const Authority operators = authority_with({}, true);
  const Authority bound = authority_with({TenantIs{"acme"}}, true);
  for (const OperationRow& row : all_operations()) {
    const Query query{.operation = row.operation, .tenant = "acme"};
    EXPECT_FALSE(refuser(operators, query)) << row.name;
    const auto expected = row.reach == Reach::node ? std::optional{Refuser::tenant} : std::nullopt;
    EXPECT_EQ(refuser(tenants, query), expected) << row.name;
    EXPECT_EQ(refuser(bound, query), expected) << row.name;
  }
  EXPECT_FALSE(refuser(operators, {.operation = Operation::sandbox_read, .tenant = "other"}));
}

TEST(Authority, HasTheOperationsThatAllCaveatsHave) {
  const Authority authority =
      authority_with({OperationIn{set_of({Operation::file_read, Operation::file_write})},
                      OperationIn{set_of({Operation::file_read, Operation::process_start})}});
  EXPECT_FALSE(refuser(authority, about(Operation::file_read, "/x")));
  EXPECT_EQ(refuser(authority, about(Operation::file_write, "/x")), Refuser::operation);
  EXPECT_EQ(refuser(authority, about(Operation::process_start)), Refuser::operation);
}

TEST(Authority, OfAnEmptySetIsNone) {
  const Authority no_operation = authority_with({OperationIn{}});
  const Authority no_sandbox = authority_with({SandboxIn{}});
  for (const OperationRow& row : all_operations()) {
    EXPECT_TRUE(refuser(no_operation, about(row.operation, "/x"))) << row.name;
    EXPECT_TRUE(refuser(no_sandbox, about(row.operation, "/x"))) << row.name;
  }
  const Authority apart =
      authority_with({SandboxIn{{sandbox("aaaa")}}, SandboxIn{{sandbox("bbbb")}}});
  EXPECT_EQ(refuser(apart, about(Operation::sandbox_read)), Refuser::sandbox);
}

TEST(Authority, OverSandboxesMakesNoOther) {
  const Authority authority =
      authority_with({SandboxIn{{sandbox("aaaa"), sandbox("bbbb")}}, SandboxIn{{sandbox("aaaa")}}});
  EXPECT_FALSE(refuser(authority, about(Operation::process_start)));
  Query query = about(Operation::process_start);
  query.sandbox = "bbbb";
  EXPECT_EQ(refuser(authority, query), Refuser::sandbox);
  query = about(Operation::sandbox_create);
  query.sandbox.reset();
  EXPECT_EQ(refuser(authority, query), Refuser::sandbox);
}

TEST(Authority, OverAPathIsByWholeNames) {
  const Authority authority = authority_with({PathBelow{"/a"}});
  for (const std::string_view inside : {"/a", "/a/b", "/a/b/c"})
    EXPECT_FALSE(refuser(authority, about(Operation::file_read, inside))) << inside;
  for (const std::string_view outside :
       {"/", "/ab", "/b", "/a/../b", "/a/./b", "/a//b", "/a/", "a", "", "//a"}) {
    EXPECT_EQ(refuser(authority, about(Operation::file_read, outside)), Refuser::path) << outside;
  }
  EXPECT_EQ(refuser(authority, about(Operation::file_read, std::string_view{"/a/b\0c", 6})),
            Refuser::path);
  EXPECT_EQ(refuser(authority, about(Operation::file_read)), Refuser::path);
  EXPECT_FALSE(refuser(authority_with({PathBelow{"/"}}), about(Operation::file_read, "/x/y")));
}

TEST(Authority, OverPathsIsWhereAllOfThemMeet) {
  const Authority authority = authority_with({PathBelow{"/a"}, PathBelow{"/a/b"}});
  EXPECT_FALSE(refuser(authority, about(Operation::file_read, "/a/b/c")));
  EXPECT_EQ(refuser(authority, about(Operation::file_read, "/a/c")), Refuser::path);
  const Authority nowhere = authority_with({PathBelow{"/a"}, PathBelow{"/b"}});
  EXPECT_EQ(refuser(nowhere, about(Operation::file_read, "/a")), Refuser::path);
  EXPECT_EQ(refuser(nowhere, about(Operation::file_read, "/b")), Refuser::path);
}

TEST(Authority, OverAPathStartsNoProcessThatCouldReadBesideIt) {
  const Authority authority = authority_with({PathBelow{"/a"}});
  for (const OperationRow& row : all_operations()) {
    if (row.has_path) continue;
    EXPECT_TRUE(refuser(authority, about(row.operation, "/a/b"))) << row.name;
  }
}

TEST(Authority, EndsWithItsExpiryAlsoWhenItWasVerifiedBefore) {
  const Authority authority = authority_with({ExpiresAt{in_seconds(10)}});
  const Query query = about(Operation::process_read);
  EXPECT_TRUE(authority.may(query, in_seconds(9)));
  EXPECT_EQ(authority.may(query, in_seconds(10)).by, Refuser::expiry);
  EXPECT_EQ(authority.expires(), in_seconds(10));
}

TEST(Authority, HasTheSmallestOfItsBudgets) {
  const Authority authority =
      authority_with({BudgetOf{Quantity::sandboxes, 5}, BudgetOf{Quantity::processes, 0},
                      BudgetOf{Quantity::sandboxes, 3}, BudgetOf{Quantity::sandboxes, 9}});
  EXPECT_EQ(authority.most(Quantity::sandboxes), 3U);
  EXPECT_EQ(authority.most(Quantity::processes), 0U);
  EXPECT_EQ(authority.most(Quantity::memory_bytes), std::nullopt);
}

// C219, C288
TEST(Authority, ManyTokensMadeOfOneCountInItsAccount) {
  const std::string parent = token_with({BudgetOf{Quantity::sandboxes, 10}});
  const Caveat one = BudgetOf{Quantity::sandboxes, 8};
  const Caveat two = BudgetOf{Quantity::sandboxes, 9};
  const auto first = try_at_node(*attenuate(parent, std::span{&one, 1})).authority;
  const auto second = try_at_node(*attenuate(parent, std::span{&two, 1})).authority;
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->allowances().size(), 2U);
  EXPECT_EQ(first->allowances()[0], second->allowances()[0]) << "the parent's is the same account";
  EXPECT_EQ(first->allowances()[0].account, read(parent)->revocation);
  EXPECT_NE(first->allowances()[1].account, second->allowances()[1].account);
}

// C204
TEST(Authority, MakesNoSandboxAboveAnyOfItsCeilings) {
  const auto policy_of = [](const std::string& json) {
    return *policy::check(*policy::parse(json, "request", policy::Syntax::json),
                          policy::Origin::request, {});
  };
  const std::string both =
      R"({"version":1,"network":{"egress_allowlist":["a.example","b.example"]}})";
  const Authority authority = authority_with(
      {PolicyCeiling{both},
       PolicyCeiling{R"({"version":1,"network":{"egress_allowlist":["b.example"]}})"}});
  const auto meet = authority.under_ceilings(
      policy_of(R"({"version":1,"network":{"egress_allowlist":["b.example","c.example"]}})"), {});
  ASSERT_TRUE(meet) << meet.error().text();
  EXPECT_EQ(meet->decide(policy::NetQuery{"a.example", 443}).effect, policy::Effect::deny);
  EXPECT_EQ(meet->decide(policy::NetQuery{"b.example", 443}).effect, policy::Effect::allow);
  EXPECT_EQ(meet->decide(policy::NetQuery{"c.example", 443}).effect, policy::Effect::deny);
  EXPECT_TRUE(authority.has_ceiling());
  EXPECT_FALSE(authority_with().has_ceiling());
}

TEST(Authority, ACeilingThatIsNoPolicyMakesNoSandbox) {
  Authority authority{true};
  authority.narrow(
      PolicyCeiling{R"({"version":1,"filesystem":{"host_mounts":[{"source":"/etc"}]}})"}, {});
  const auto asked = policy::check(*policy::parse("{}", "request", policy::Syntax::json),
                                   policy::Origin::request, {});
  EXPECT_FALSE(authority.under_ceilings(*asked, {}));
}

TEST(Authority, SaysWhatToAskFor) {
  const auto words = [](const Authority& authority, const Query& query) {
    return authority.may(query, kNow).words;
  };
  EXPECT_EQ(words(authority_with({OperationIn{set_of({Operation::file_read})}}),
                  about(Operation::file_write, "/x")),
            "this token may not write, make, move and remove files: ask for a token with the "
            "operation file.write");
  EXPECT_EQ(words(authority_with({SandboxIn{{sandbox("bbbb")}}}), about(Operation::sandbox_read)),
            "this token is for other sandboxes: ask for a token with the sandbox `aaaa`");
  EXPECT_EQ(words(authority_with({PathBelow{"/a"}}), about(Operation::file_read, "/b\x1b[m")),
            "this token is for files below `/a`: ask for a token with a path that covers `/b?[m`");
  EXPECT_EQ(words(authority_with(), about(Operation::node_drain)),
            "node.drain is an operator's alone: ask for a token made with --operator and without "
            "--tenant");
  EXPECT_EQ(words(authority_with(), about(Operation::file_read, "/x")), "");
}

}  // namespace
}  // namespace cordon::token
