// SPDX-License-Identifier: Apache-2.0
// The verbs about nodes as a person types them, where no node is: exit codes and words. With nodes
// they are tested in tests/fleet/verbs.py.
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "cli/ran_test.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

Ran cordon(std::vector<const char*> words) {
  std::ostringstream out;
  std::ostringstream err;
  Context context{.out = out, .err = err, .environment = [](const std::string& name) {
                    return name == "CORDON_NODE"
                               ? std::optional<std::string>{"/nonexistent/gateway.sock"}
                               : std::nullopt;
                  }};
  words.insert(words.begin(), "cordon");
  const int exit = run(static_cast<int>(words.size()), words.data(), context);
  return {.exit = exit, .out = out.str(), .err = err.str()};
}

TEST(FleetVerbs, WithoutAnybodyThereSayWhatToDo) {
  for (const auto& words : {std::vector{"node", "ls"},
                            {"node", "drain"},
                            {"node", "resume", "1.2"},
                            {"fleet", "status"},
                            {"fleet", "policy", "show"},
                            {"fleet", "policy", "resume"},
                            {"fleet", "policy", "rollback"},
                            {"node", "drain", "1.2", "--move"},
                            {"fleet", "move", "abcdefghijklmnop", "--to", "1.2"},
                            {"fleet", "quota"},
                            {"fleet", "quota", "acme", "100", "--homes", "1,2"}}) {
    const Ran ran = cordon(words);
    EXPECT_EQ(ran.exit, 5) << words[1] << ran.err;
    EXPECT_NE(ran.err.find("no node at /nonexistent/gateway.sock"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("--node"), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

TEST(FleetVerbs, RefuseWhatTheyDoNotUnderstand) {
  for (const auto& words : {std::vector{"node", "drain", "1"},
                            {"node", "drain", "1.2/../3"},
                            {"node", "drain", "node-1-2"},
                            {"node", "drain", "1.2", "--timeout", "9s"},
                            {"node", "drain", "--move"},
                            {"fleet", "move"},
                            {"fleet", "move", "not-an-id"},
                            {"fleet", "move", "abcdefghijklmnop", "--to", "here"},
                            {"node", "drain", "--wait", "--timeout", "soon"},
                            {"node", "resume", "1.2", "--wait"},
                            {"node", "ls", "1.2"},
                            {"fleet"},
                            {"fleet", "ls"},
                            {"fleet", "policy"},
                            {"fleet", "policy", "push"},
                            {"fleet", "policy", "push", "x", "--soak", "soon"},
                            {"fleet", "quota", "acme", "100"},
                            {"fleet", "quota", "acme", "many", "--homes", "1"},
                            {"fleet", "quota", "--remove"},
                            {"fleet", "quota", "acme/b"},
                            {"fleet", "status", "https://gateway.example"}}) {
    const Ran ran = cordon(words);
    EXPECT_EQ(ran.exit, 2) << words.back() << ran.err;
    EXPECT_TRUE(ran.err.starts_with("cordon: ")) << ran.err;
  }
}

TEST(FleetVerbs, TakeNoFlagsOfTheSandboxOfNodeJs) {
  const Ran ran = cordon({"node", "--read-only", "drain", "1.2"});
  EXPECT_EQ(ran.exit, 2) << ran.err;
  EXPECT_NE(ran.err.find("--read-only"), std::string::npos) << ran.err;
}

TEST(FleetVerbs, HaveHelp) {
  for (const auto& words :
       {std::vector{"node", "drain", "--help"}, {"fleet", "status", "--help"}}) {
    const Ran ran = cordon(words);
    EXPECT_EQ(ran.exit, 0);
    EXPECT_NE(ran.out.find("--token-file"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("--read-only"), std::string::npos) << ran.out;
  }
}

}  // namespace
}  // namespace cordon::cli
