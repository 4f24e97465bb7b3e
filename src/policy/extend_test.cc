// SPDX-License-Identifier: Apache-2.0
// Presets under a document, and what is decided of credentials, variables, ingress and settings.
#include "policy/extend.h"

#include <gtest/gtest.h>

#include "policy/checked.h"
#include "policy/policy_text_test.h"

namespace cordon::policy {
namespace {

using enum Effect;

constexpr std::string_view kGrants = R"([network]
egress_allowlist = ["a.example", "*.b.example"]
[[credentials.grants]]
name = "one"
from = "env:ONE"
host = "a.example"
header = "X: {secret}"
methods = ["GET"]
paths = ["/v1/**", "/"]
[[credentials.grants]]
name = "two"
from = "file:/x"
host = "x.b.example"
header = "X: {secret}"
)";

TEST(CredentialDecision, BindsASecretToHostMethodAndPath) {
  struct Row {
    CredentialQuery query;
    Effect effect;
    Reason reason;
  };
  const Row rows[] = {
      {{"one", "a.example", "GET", "/v1/x"}, allow, Reason::granted},
      {{"one", "a.example", "GET", "/"}, allow, Reason::granted},
      {{"one", "a.example", "POST", "/v1/x"}, deny, Reason::grant_method},
      {{"one", "a.example", "", "/v1/x"}, deny, Reason::grant_method},
      {{"one", "a.example", "GET", "/v2"}, deny, Reason::grant_path},
      {{"one", "a.example", "GET", "/v1/../v2"}, deny, Reason::grant_path},
      {{"one", "a.example", "GET", "/v1/%2e%2e/v2"}, deny, Reason::grant_path},
      {{"one", "x.a.example", "GET", "/v1/x"}, deny, Reason::grant_host},
      {{"one", "x.b.example", "GET", "/v1/x"}, deny, Reason::grant_host},
      {{"two", "x.b.example", "POST", "/any"}, allow, Reason::granted},
      // All paths are granted, but never one that a server could read in another way.
      {{"two", "x.b.example", "POST", "/any//x"}, deny, Reason::grant_path},
      {{"two", "y.b.example", "POST", "/any"}, deny, Reason::grant_host},
      {{"three", "a.example", "GET", "/"}, deny, Reason::no_grant},
      {{"", "a.example", "GET", "/"}, deny, Reason::no_grant},
  };
  const Policy policy = policy_from(kGrants);
  for (const Row& row : rows) {
    const Decision found = policy.decide(row.query);
    EXPECT_EQ(found.effect, row.effect) << row.query.grant << row.query.path;
    EXPECT_EQ(found.reason, row.reason) << row.query.grant << row.query.path;
  }
}

TEST(CredentialDecision, IsTurnedOffByModeNoneEvenForThePresetsGrants) {
  const CredentialQuery query{"anthropic", "api.anthropic.com", "POST", "/v1/messages"};
  EXPECT_EQ(policy_from("extends = [\"claude\"]").decide(query).effect, allow);
  const Decision off =
      policy_from("extends = [\"claude\"]\n[credentials]\nmode = \"none\"\n").decide(query);
  EXPECT_EQ(off.effect, deny);
  EXPECT_EQ(off.place, (Place{0, {3, 8}}));
}

TEST(CredentialDecision, IsTurnedOffByAWorkspaceFileAndOtherwiseLeftAlone) {
  const Policy policy = policy_from(kGrants);
  const CredentialQuery query{"two", "x.b.example", "GET", "/x"};
  EXPECT_EQ(narrowed(policy, "[credentials]\nmode = \"none\"\n").decide(query).effect, deny);
  EXPECT_EQ(narrowed(policy, "[credentials]\nsecret_scanning = true\n").decide(query).effect,
            allow);
  EXPECT_EQ(narrowed(policy, "").decide(query).effect, allow);
}

TEST(VariableDecision, PassesFourByDefaultAndOtherwiseTheList) {
  const Policy defaults = policy_from("");
  for (const std::string_view name : {"LANG", "LC_ALL", "LC_", "TERM", "TZ"})
    EXPECT_TRUE(defaults.decide_variable(name).allowed()) << name;
  for (const std::string_view name : {"HOME", "PATH", "LANGUAGE", "LC", "AWS_SECRET", "", "lang"})
    EXPECT_FALSE(defaults.decide_variable(name).allowed()) << name;
  const Policy policy =
      policy_from("[environment]\npass = [\"MY_*\", \"HOME\"]\nset = { CI = \"1\" }\n");
  for (const std::string_view name : {"MY_", "MY_X", "HOME", "CI"})
    EXPECT_TRUE(policy.decide_variable(name).allowed()) << name;
  for (const std::string_view name : {"LANG", "HOMEX", "MY", "XMY_A", "CI2"})
    EXPECT_FALSE(policy.decide_variable(name).allowed()) << name;
  EXPECT_FALSE(policy_from("[environment]\npass = []\n").decide_variable("LANG").allowed());
  EXPECT_EQ(policy.decide_variable("CI").reason, Reason::variable_set);
}

TEST(VariableDecision, IsNarrowedOnlyByAListOfTheWorkspaceFile) {
  const Policy policy = policy_from("[environment]\npass = [\"A\", \"B\"]\n");
  EXPECT_TRUE(narrowed(policy, "").decide_variable("A").allowed());
  const Policy less = narrowed(policy, "[environment]\npass = [\"A\", \"C\"]\n");
  EXPECT_TRUE(less.decide_variable("A").allowed());
  EXPECT_FALSE(less.decide_variable("B").allowed());
  EXPECT_FALSE(less.decide_variable("C").allowed());
}

TEST(IngressDecision, TakesListedPortsOnly) {
  const Policy policy = policy_from("[network]\ningress = [80, 3000]\n");
  EXPECT_TRUE(policy.decide_ingress(80).allowed());
  EXPECT_FALSE(policy.decide_ingress(8080).allowed());
  EXPECT_FALSE(policy_from("[network]\ningress = \"deny_all\"\n").decide_ingress(80).allowed());
  EXPECT_FALSE(policy_from("").decide_ingress(80).allowed());
  EXPECT_TRUE(narrowed(policy, "[network]\nmode = \"restricted\"\n").decide_ingress(80).allowed());
  EXPECT_FALSE(narrowed(policy, "[network]\ningress = [3000]\n").decide_ingress(80).allowed());
  EXPECT_FALSE(
      narrowed(policy, "[network]\ningress = \"deny_all\"\n").decide_ingress(80).allowed());
}

TEST(Settings, OfAnEmptyDocumentAreTheStrictOnes) {
  const Settings settings = policy_from("").settings();
  EXPECT_EQ(settings, (Settings{.isolation = Isolation::process,
                                .profile = Profile::strict,
                                .user = User::user,
                                .limits = {.pids = kDefaultPids}}));
}

TEST(Settings, AreTheStricterOfBothDocuments) {
  const Policy a = policy_from(R"(isolation = "gvisor"
require = ["seccomp", "landlock:3"]
[filesystem]
review = true
[process]
user = "root"
capabilities = ["chown", "kill"]
[syscalls]
profile = "compat"
[resources]
pids_limit = 5000
memory_limit = "2Gi"
cpu_limit = "0.5"
)");
  const Policy b = policy_from(R"(require = ["landlock:5", "cgroup"]
[process]
user = "root"
capabilities = ["kill", "setuid"]
[syscalls]
profile = "compat"
[credentials]
secret_scanning = true
[resources]
pids_limit = 6000
memory_limit = "1Gi"
cpu_limit = 2
timeout_seconds = 5
)");
  const Settings both = attenuate(a, b).settings();
  EXPECT_EQ(
      both,
      (Settings{
          .isolation = Isolation::gvisor,
          .profile = Profile::compat,
          .user = User::root,
          .capabilities = {"kill"},
          .require = {{"cgroup", 0}, {"landlock", 5}, {"seccomp", 0}},
          .review = true,
          .secret_scanning = true,
          .limits = {.milli_cpus = 500, .memory = 1U << 30U, .pids = 5000, .wall_seconds = 5}}));
  // A document that says nothing says the strict thing.
  const Settings strict = attenuate(a, policy_from("")).settings();
  EXPECT_EQ(strict.profile, Profile::strict);
  EXPECT_EQ(strict.user, User::user);
  EXPECT_TRUE(strict.capabilities.empty());
  EXPECT_EQ(strict.limits.pids, kDefaultPids);
  // But not a workspace file.
  EXPECT_EQ(narrowed(a, "").settings(), a.settings());
  EXPECT_EQ(
      narrowed(a, "[process]\nuser = \"user\"\n[syscalls]\nprofile = \"strict\"\n").settings().user,
      User::user);
  EXPECT_EQ(narrowed(a, "[process]\ncapabilities = []\n").settings().capabilities.size(), 0U);
  EXPECT_EQ(narrowed(a, "[resources]\npids_limit = 7\n").settings().limits.pids, 7U);
  EXPECT_EQ(narrowed(a, "[resources]\npids_limit = 9000\n").settings().limits.pids, 5000U);
}

TEST(Extends, LaysTheDocumentOverItsPresets) {
  const Policy policy = policy_from(R"(extends = ["coding-agent", "python"]
[filesystem]
hide = ["mine"]
review = false
[network]
egress_allowlist = ["mine.example"]
[resources]
pids_limit = 7
[environment]
set = { PIP_DISABLE_PIP_VERSION_CHECK = "0" }
)");
  // Lists are joined.
  EXPECT_FALSE(policy.decide(PathQuery{Access::read, "/workspace/.env"}).allowed());
  EXPECT_FALSE(policy.decide(PathQuery{Access::read, "/workspace/mine"}).allowed());
  EXPECT_TRUE(policy.decide(NetQuery{"mine.example"}).allowed());
  EXPECT_TRUE(policy.decide(NetQuery{"github.com"}).allowed());
  EXPECT_TRUE(policy.decide_variable("COLORTERM").allowed());
  EXPECT_TRUE(policy.decide_variable("PYTHONUNBUFFERED").allowed());
  // Values are replaced.
  EXPECT_FALSE(policy.settings().review);
  EXPECT_EQ(policy.settings().limits.pids, 7U);
  EXPECT_EQ(policy.settings().limits.memory, 8ULL << 30U);
  const auto& set = policy.documents().front()->document().environment.set.items;
  EXPECT_EQ(std::ranges::count(set, "PIP_DISABLE_PIP_VERSION_CHECK", &Variable::name), 1);
  EXPECT_EQ(std::ranges::find(set, "PIP_DISABLE_PIP_VERSION_CHECK", &Variable::name)->value, "0");
}

TEST(Extends, KeepsThePlaceOfEachRule) {
  const Policy policy = policy_from("extends = [\"claude\"]\n[filesystem]\nhide = [\"mine\"]\n");
  const PolicyDocument& document = policy.documents().front()->document();
  ASSERT_EQ(document.sources.size(), 4U);
  EXPECT_EQ(document.sources[0].name, "cordon.toml");
  EXPECT_EQ(document.sources[0].origin, Origin::user);
  const auto place_of = [&](std::string_view path) {
    return to_string(document, policy.decide(PathQuery{Access::read, path}).place);
  };
  EXPECT_EQ(place_of("/workspace/mine"), "cordon.toml:3");
  EXPECT_EQ(place_of("/workspace/.env"), "preset:coding-agent:9");
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(document.sources[i].origin, Origin::builtin);
}

TEST(Extends, LaterPresetsWinOverEarlierAndADocumentOverAll) {
  EXPECT_EQ(policy_from("extends = [\"strict\", \"build\"]").settings().limits.pids, 4096U);
  EXPECT_EQ(policy_from("extends = [\"build\", \"strict\"]").settings().limits.pids, 128U);
  // What a preset extends lies under it, and each preset is laid once.
  const Policy policy = policy_from("extends = [\"claude\", \"codex\", \"coding-agent\"]");
  EXPECT_EQ(policy.documents().front()->document().sources.size(), 5U);
  EXPECT_TRUE(policy.decide(CredentialQuery{"openai", "api.openai.com", "POST", "/x"}).allowed());
  EXPECT_TRUE(
      policy.decide(CredentialQuery{"anthropic", "api.anthropic.com", "POST", "/x"}).allowed());
  // mode = "none" of the document turns off what the presets list.
  const Policy off = policy_from("extends = [\"claude\"]\n[network]\nmode = \"none\"\n");
  EXPECT_EQ(off.decide(NetQuery{"github.com"}).reason, Reason::network_off);
}

// Otherwise the preset's wider grant would be found first.
TEST(Extends, ReplacesAGrantOfTheSameName) {
  const Policy policy = policy_from(R"(extends = ["claude"]
[[credentials.grants]]
name = "anthropic"
env = "ANTHROPIC_API_KEY"
from = "file:~/key"
host = "api.anthropic.com"
header = "x-api-key: {secret}"
methods = ["GET"]
)");
  EXPECT_EQ(policy.documents().front()->document().credentials.grants.items.size(), 1U);
  EXPECT_FALSE(
      policy.decide(CredentialQuery{"anthropic", "api.anthropic.com", "POST", "/"}).allowed());
  EXPECT_TRUE(
      policy.decide(CredentialQuery{"anthropic", "api.anthropic.com", "GET", "/"}).allowed());
}

}  // namespace
}  // namespace cordon::policy
