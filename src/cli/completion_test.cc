// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "cli/completion_tree.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

CompletionVerb whole() {
  std::ostringstream out;
  Context context{.out = out, .err = out, .environment = {}};
  CLI::App app{"", "cordon"};
  add_all_verbs(app, context);
  return completion_tree(app);
}

const CompletionVerb& named(const CompletionVerb& above, std::string_view name) {
  const auto found = std::ranges::find(above.verbs, name, &CompletionVerb::name);
  EXPECT_NE(found, above.verbs.end()) << name;
  return *found;
}

const CompletionOption* option(const CompletionVerb& verb, const std::string& name) {
  for (const CompletionOption& each : verb.options) {
    if (std::ranges::find(each.names, name) != each.names.end()) return &each;
  }
  return nullptr;
}

TEST(CompletionTree, HasEveryVerbAndFlagThatTheCommandLineHas) {
  const CompletionVerb tree = whole();
  for (const char* verb : {"run", "exec", "ps", "policy", "token", "mcp", "completion", "npm"})
    EXPECT_EQ(named(tree, verb).path, std::string{"cordon "} + verb);
  EXPECT_EQ(named(named(tree, "policy"), "check").path, "cordon policy check");
  EXPECT_NE(option(named(named(tree, "mcp"), "serve"), "--allow-net"), nullptr);
  EXPECT_EQ(named(named(tree, "fleet"), "status").path, "cordon fleet status");
  EXPECT_NE(option(named(named(named(tree, "fleet"), "policy"), "push"), "--canary"), nullptr);
  // Beside the flags of Node.js, not with them.
  EXPECT_NE(option(named(named(tree, "node"), "drain"), "--wait"), nullptr);
  EXPECT_EQ(option(named(named(tree, "node"), "drain"), "--allow-net"), nullptr);
  EXPECT_NE(option(named(tree, "node"), "--allow-net"), nullptr);
  const CompletionOption* const follow = option(named(tree, "logs"), "-f");
  ASSERT_NE(follow, nullptr);
  EXPECT_EQ(follow->names, (std::vector<std::string>{"-f", "--follow"}));
  EXPECT_FALSE(follow->takes_value);
}

TEST(CompletionTree, KnowsWhatTakesAValueAndWhichOnes) {
  const CompletionVerb tree = whole();
  const CompletionOption* const require = option(named(tree, "doctor"), "--require");
  ASSERT_NE(require, nullptr);
  EXPECT_TRUE(require->takes_value);
  EXPECT_EQ(require->choices, (std::vector<std::string>{"full", "supervised"}));
  EXPECT_TRUE(named(tree, "kill").takes_sandbox);
  EXPECT_TRUE(named(tree, "exec").takes_sandbox);
  EXPECT_FALSE(named(tree, "ps").takes_sandbox);
}

TEST(CompletionScripts, QuoteWhatAShellWouldRead) {
  CompletionVerb tree{.path = "x", .name = "x", .meaning = ""};
  tree.options.push_back({.names = {"--a"}, .meaning = "it's `id` $(id) \\", .takes_value = false});
  EXPECT_NE(zsh_completion(tree).find(R"('--a:it'\''s `id` $(id) \')"), std::string::npos);
  EXPECT_NE(fish_completion(tree).find(R"(-d 'it\'s `id` $(id) \\')"), std::string::npos);
}

}  // namespace
}  // namespace cordon::cli
