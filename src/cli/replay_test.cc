// SPDX-License-Identifier: Apache-2.0
#include "cli/replay.h"

#include <gtest/gtest.h>

#include "policy/policy_text_test.h"

namespace cordon::cli {
namespace {

using policy::Access;
using policy::Act;
using policy::NetAct;
using policy::PathAct;

std::vector<std::string> told(const AuditEvent& event, std::uint64_t unasked = 0) {
  std::uint64_t counted = 0;
  std::vector<std::string> words;
  for (const Act& act : acts_of(event, counted)) {
    words.push_back(std::string{kind_of(act)} + ' ' + words_of(act));
  }
  EXPECT_EQ(counted, unasked);
  return words;
}
using Words = std::vector<std::string>;

TEST(RunHistory, AsksAboutWhatWasDone) {
  EXPECT_EQ(told(FileTouched{.act = "write", .path = "/w/a/../b"}), (Words{"write /w/b"}));
  EXPECT_EQ(told(FileTouched{.act = "read", .path = "/w/.env"}), (Words{"read /w/.env"}));
  EXPECT_EQ(told(FileTouched{.act = "unlinkat", .path = "/w/d/"}), (Words{"write /w/d"}));
  EXPECT_EQ(told(FileTouched{.act = "renameat2", .path = "/w/a", .to = "/w/b"}),
            (Words{"write /w/a", "write /w/b"}));
  EXPECT_EQ(told(FileTouched{.act = "linkat", .path = "/usr/a", .to = "/w/b"}),
            (Words{"write /w/b"}))
      << "what gets a second name is not written";
  EXPECT_EQ(told(FileTouched{.act = "symlinkat", .path = "/w/l", .to = "/etc/x"}),
            (Words{"write /w/l"}));
  EXPECT_EQ(told(FileTouched{.act = "write", .path = "…/a"}, 1), Words{}) << "nobody knows where";
  EXPECT_EQ(told(ProgramStarted{.program = "./a", .directory = "/w"}), (Words{"exec /w/a"}));
  EXPECT_EQ(told(NetworkUsed{.host = "a.example", .port = 443}), (Words{"net a.example:443"}));
  EXPECT_EQ(told(NetworkUsed{.host = "a.example", .port = 443, .ended = true}), Words{});
  EXPECT_EQ(told(NetworkUsed{
                .host = "a.example", .port = 443, .method = "GET", .path = "/x", .ended = true}),
            (Words{"net GET a.example:443/x"}));
  EXPECT_EQ(told(ConnectTried{.address = "127.0.0.1", .port = 80}), Words{})
      << "of what went out, NetworkUsed tells";
}

Replayed asked(std::string_view policy, Act act, bool was_refused) {
  const RunHistory run{.sandbox = "one", .acts = {{std::move(act), was_refused, 2}}};
  const auto all = replay(policy::policy_from(policy), run,
                          {.workspace = "/srv/w", .homes = {"/home/user", "/home/ada"}});
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? Replayed{} : all.front();
}

constexpr std::string_view kPolicy =
    "version = 1\n[filesystem]\nhide = [\"**/.env\"]\nprotect = [\".git/hooks\"]\n[network]\n"
    "egress_allowlist = [\"a.example\"]\n";

TEST(Replay, AnswersByTheRulesOfTheCandidate) {
  const Replayed allowed = asked(kPolicy, NetAct{.host = "a.example"}, true);
  EXPECT_FALSE(allowed.is_refused_now());
  EXPECT_EQ(allowed.rule, "cordon.toml:6");
  EXPECT_EQ(allowed.uses, 2U);
  EXPECT_FALSE(
      asked(kPolicy, NetAct{.host = "a.example", .is_lookup = true}, true).is_refused_now());
  EXPECT_TRUE(asked(kPolicy, NetAct{.host = "a.example", .port = 22}, false).is_refused_now());
  const Replayed hook = asked(kPolicy, PathAct{Access::write, "/srv/w/.git/hooks/x"}, false);
  EXPECT_TRUE(hook.is_refused_now());
  EXPECT_EQ(hook.rule, "cordon.toml:4");
  EXPECT_FALSE(asked(kPolicy, PathAct{Access::write, "/srv/w/a"}, false).is_refused_now());
  EXPECT_TRUE(asked(kPolicy, PathAct{Access::write, "/usr/x"}, true).is_refused_now());
}

TEST(Replay, SaysNothingOfThePlacesThatEverySandboxHas) {
  for (const std::string path : {"/proc/self/oom_score_adj", "/dev/null", "/tmp/x", "/var/tmp/x",
                                 "/dev/shm/x", "/home/ada/.npm/x", "/home/user/.cache/x"}) {
    EXPECT_FALSE(asked(kPolicy, PathAct{Access::write, path}, false).is_refused_now()) << path;
  }
  EXPECT_TRUE(asked(kPolicy, PathAct{Access::read, "/home/ada/.env"}, false).is_refused_now())
      << "a rule speaks of it";
  EXPECT_TRUE(asked(kPolicy, PathAct{Access::write, "/proc/x"}, true).is_refused_now())
      << "it was refused, and would be again";
  EXPECT_TRUE(asked(kPolicy, PathAct{Access::write, "/srv/other"}, false).is_refused_now());
}

}  // namespace
}  // namespace cordon::cli
