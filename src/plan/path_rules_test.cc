// SPDX-License-Identifier: Apache-2.0
#include "plan/path_rules.h"

#include <gtest/gtest.h>

#include "plan/lowering_test.h"
#include "policy/explain.h"

namespace cordon::plan {
namespace {

constexpr std::string_view kPaths[] = {"/",
                                       "/etc",
                                       "/etc/passwd",
                                       "/usr/bin/sh",
                                       "/workspace",
                                       "/workspace/a",
                                       "/workspace/.git/hooks/x",
                                       "/workspace/.env",
                                       "/data/x",
                                       "/data/sub/y",
                                       "/tmp/x",
                                       "/proc/1/mem",
                                       "/home/u/.ssh/id_rsa",
                                       "/dev/null",
                                       "/opt/none"};

void expect_same(const policy::Policy& policy) {
  const auto again = path_policy_of(path_rules_of(policy));
  ASSERT_TRUE(again) << again.error().text();
  for (const std::string_view path : kPaths) {
    for (const auto access : {policy::Access::read, policy::Access::write, policy::Access::exec}) {
      const policy::PathQuery query{.access = access, .path = path};
      const auto one = policy::explain(policy, query);
      const auto other = policy::explain(*again, query);
      EXPECT_EQ(one.effect, other.effect) << path;
      EXPECT_EQ(one.rule, other.rule) << path;
      EXPECT_EQ(one.sentence, other.sentence) << path;
      EXPECT_EQ(one.changes, other.changes) << path;
    }
  }
}

constexpr std::string_view kAll =
    "[filesystem]\nroot = \"dir:/srv/root\"\nworkspace = \"/workspace\"\nmode = \"read_only\"\n"
    "hide = [\".env\", \"**/.ssh/**\"]\nprotect = [\".git/hooks/**\"]\n"
    "host_mounts = [{source = \"/data\", target = \"/data\", mode = \"read_only\", why = \"w\"},"
    "{source = \"/data/sub\", target = \"/data/sub\", mode = \"read_write\", why = \"w\"}]\n";

TEST(PathRules, DecideAndExplainAsThePolicyThatTheyAreOf) {
  for (const std::string_view text :
       {std::string_view{}, kAll, std::string_view{"[filesystem]\nmode = \"read_write\"\n"}}) {
    expect_same(policy::policy_from(text));
  }
  expect_same(policy::attenuate(policy::policy_from(kAll),
                                policy::policy_from("[filesystem]\nprotect = [\"a\"]\n")));
}

TEST(PathRules, ThatNobodyWroteAreRefused) {
  EXPECT_FALSE(path_policy_of({}));
  auto documents = path_rules_of(policy::policy_from(kAll));
  ASSERT_TRUE(path_policy_of(documents));
  const auto refused = [&](const auto& change) {
    auto bad = documents;
    change(bad.front());
    return !path_policy_of(bad);
  };
  EXPECT_TRUE(refused([](frame::PathDocument& d) { d.files.clear(); }));
  EXPECT_TRUE(refused([](frame::PathDocument& d) { d.origin = 99; }));
  EXPECT_TRUE(refused([](frame::PathDocument& d) { d.root = 99; }));
  EXPECT_TRUE(refused([](frame::PathDocument& d) { d.mode = 2; }));
  EXPECT_TRUE(refused([](frame::PathDocument& d) { d.hide.front().place.source = 7; }));
  EXPECT_TRUE(refused([](frame::PathDocument& d) { d.mounts.front().mode = 9; }));
}

}  // namespace
}  // namespace cordon::plan
