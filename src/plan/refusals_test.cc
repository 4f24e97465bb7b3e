// SPDX-License-Identifier: Apache-2.0
// What is never lowered, and what is said instead.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plan/lowering_test.h"

namespace cordon::plan {
namespace {

using policy::policy_from;

struct Refused {
  std::string_view name;
  std::string_view policy;
  std::string_view code;
  std::string_view rule;
  std::string_view tried;
  std::string_view why;  // in it
  std::string_view fix;
};

void expect_only(const std::vector<Denial>& refusals, const Refused& expected) {
  ASSERT_EQ(refusals.size(), 1U) << expected.name;
  const Denial& denial = refusals.front();
  EXPECT_EQ(denial.code, expected.code) << expected.name;
  EXPECT_EQ(denial.rule, expected.rule) << expected.name;
  EXPECT_EQ(denial.tried, expected.tried) << expected.name;
  EXPECT_NE(denial.why.find(expected.why), std::string::npos)
      << expected.name << ": " << denial.why;
  EXPECT_EQ(denial.fix, expected.fix) << expected.name;
}

constexpr std::string_view kExplain = "cordon policy explain cordon.toml";
constexpr std::string_view kOffline = "cordon run --no-network -- make test";
constexpr std::string_view kReviewed = "cordon run --review -- make test";

TEST(Lowering, RefusesWhatItCannotHoldAndNamesTheLine) {
  const Refused table[] = {
      {"capabilities that its kernel does not hand on",
       "isolation = \"gvisor\"\n[process]\ncapabilities = [\"chown\"]\n[syscalls]\nprofile = "
       "\"compat\"",
       "CORDON-PLAN-CAPABILITIES", "cordon.toml:3", "process.capabilities: chown",
       "behind gVisor no program has capabilities", kExplain},
      {"capabilities that who serves its files does not have",
       "isolation = \"microvm\"\n[process]\ncapabilities = [\"chown\"]\n[syscalls]\nprofile = "
       "\"compat\"",
       "CORDON-PLAN-CAPABILITIES", "cordon.toml:3", "process.capabilities: chown",
       "in a virtual machine no program has capabilities", kExplain},
      {"records that its kernel does not tell",
       "isolation = \"gvisor\"\n[monitor]\nrecord = [\"exec\"]", "CORDON-PLAN-KEY", "cordon.toml:3",
       "monitor.record", "behind gvisor nobody sees", kExplain},
      {"an image", "[filesystem]\nroot = \"image:debian-12\"", "CORDON-PLAN-ROOT", "cordon.toml:2",
       "filesystem.root = \"image:debian-12\"", "no such image", kExplain},
      {"a tunnel", "[network]\ningress = [3000]", "CORDON-PLAN-KEY", "cordon.toml:2",
       "network.ingress", "does not enforce", kOffline},
      {"records", "[monitor]\nrecord = [\"exec\"]", "CORDON-PLAN-KEY", "cordon.toml:2",
       "monitor.record", "is seen by nobody", kExplain},
      {"responses", "[[response]]\nwhen = \"denials\"\nmore_than = 1\nthen = \"kill\"",
       "CORDON-PLAN-KEY", "cordon.toml:1", "response", "is counted by nobody", kExplain},
      {"tools", "[tools.x]\nallow = [\"a\"]", "CORDON-PLAN-KEY", "cordon.toml:1", "tools",
       "`cordon mcp wrap` alone", kExplain},
      {"a protected name that is not there", "[filesystem]\nprotect = [\".git/hooks\"]",
       "CORDON-PLAN-PROTECT", "cordon.toml:2", "filesystem.protect: .git/hooks", "does not exist",
       kReviewed},
      {"a hidden name that is not there", "[filesystem]\nhide = [\"secret\"]", "CORDON-PLAN-HIDE",
       "cordon.toml:2", "filesystem.hide: secret", "does not exist", kReviewed},
      {"a hidden file of the system", "[filesystem]\nhide = [\"/usr/bin/python3\"]",
       "CORDON-PLAN-HIDE", "cordon.toml:2", "filesystem.hide: /usr/bin/python3",
       "outside the workspace", kExplain},
      {"hidden files of the system", "[filesystem]\nhide = [\"/usr/*/python3\"]",
       "CORDON-PLAN-HIDE", "cordon.toml:2", "filesystem.hide: /usr/*/python3",
       "outside the workspace", kExplain},
      {"a protected name on the own disk", "[filesystem]\nprotect = [\"/tmp/a\"]",
       "CORDON-PLAN-PROTECT", "cordon.toml:2", "filesystem.protect: /tmp/a",
       "outside the workspace", kExplain},
      {"a workspace of the sandbox's own trees", "[filesystem]\nworkspace = \"/usr\"",
       "CORDON-PLAN-WORKSPACE", "default", "workspace /usr", "system's own tree", ""},
      {"a workspace over the sandbox's own directories", "[filesystem]\nworkspace = \"/var\"",
       "CORDON-PLAN-WORKSPACE", "default", "workspace /var", "lie over /var/tmp", ""},
      {"a hidden workspace", "[filesystem]\nhide = [\"/srv/shop\"]", "CORDON-PLAN-WORKSPACE",
       "cordon.toml:2", "workspace /srv/shop", "hides the workspace", kExplain},
      {"a disk beyond the memory", "[resources]\nmemory_limit = \"1Mi\"\ndisk_limit = \"2Mi\"",
       "CORDON-PLAN-DISK", "cordon.toml:3", "resources.disk_limit = 2 MiB", "in memory",
       "cordon run --disk 1048576 -- make test"},
      {"an ABI that nobody has", "require = [\"landlock:8\"]", "CORDON-PLAN-REQUIRE",
       "cordon.toml:1", "require landlock:8", "ABI 7, 8 is asked for", "cordon doctor"},
  };
  for (const Refused& expected : table)
    expect_only(refused(expected.policy, situation_of()), expected);
}

TEST(Lowering, TakesRulesForToolsWhereSomebodyHoldsThem) {
  constexpr std::string_view kRules =
      "[tools.x]\nallow = [\"a\"]\n[[tools.x.rules]]\ntool = \"b\"\neffect = \"ask\"\n";
  Situation wrapped = situation_of();
  EXPECT_FALSE(refused(kRules, wrapped).empty());
  wrapped.has_tool_gate = true;
  EXPECT_TRUE(refused(kRules, wrapped).empty());
}

TEST(Lowering, RefusesALargeDiskAsRootWhereThereAreNoImages) {
  expect_only(refused(policy_from("[resources]\nmemory_limit = \"1Mi\"\ndisk_limit = \"2Mi\""),
                      without(Feature::disk_images, true), situation_of(true)),
              {"", "", "CORDON-PLAN-DISK", "cordon.toml:3", "resources.disk_limit = 2 MiB",
               "disk images are absent (taken away)", "cordon run --disk 1048576 -- make test"});
}

TEST(Lowering, RefusesALimitOfBytesToDiskThatNothingHolds) {
  constexpr std::string_view kPolicy = "[resources]\nio_limit = \"1Mi\"";
  HostFacts host = full_host(false);
  host.controllers = {"cpu", "memory", "pids"};
  expect_only(refused(policy_from(kPolicy), host, situation_of()),
              {"", "", "CORDON-PLAN-IO", "cordon.toml:2", "resources.io_limit = 1 MiB",
               "no control group", "cordon doctor"});
  expect_only(refused(policy_from(kPolicy), without(Feature::cgroup), situation_of()),
              {"", "", "CORDON-PLAN-IO", "cordon.toml:2", "resources.io_limit = 1 MiB",
               "no control group", "sudo mend"});
  Situation in_memory = situation_of();
  in_memory.survey.without_device = {"/srv/shop"};
  expect_only(refused(policy_from(kPolicy), full_host(false), in_memory),
              {"", "", "CORDON-PLAN-IO", "cordon.toml:2", "resources.io_limit = 1 MiB",
               "/srv/shop lies on no disk of its own", ""});
}

TEST(Lowering, RefusesARequirementThatTheHostLacks) {
  for (const std::string_view name :
       {"cgroup", "landlock", "overlay", "idmapped_mounts", "network_filter", "kvm"}) {
    const policy::Policy policy = policy_from(fmt::format("require = [\"{}\"]", name));
    for (const Feature feature : all_features()) {
      if (to_string(feature) != name) continue;
      EXPECT_TRUE(lower(policy, full_host(false), situation_of())) << name;
      const auto refusals = refused(policy, without(feature), situation_of());
      ASSERT_EQ(refusals.size(), 1U) << name;
      EXPECT_EQ(refusals[0].code, "CORDON-PLAN-REQUIRE");
      EXPECT_EQ(refusals[0].rule, "cordon.toml:1");
      EXPECT_EQ(refusals[0].fix, "sudo mend");
    }
  }
}

TEST(Lowering, RefusesAHostWithoutWhatEverySandboxNeeds) {
  for (const Feature feature : {Feature::user_namespaces, Feature::namespaces, Feature::mount_api,
                                Feature::seccomp, Feature::pidfd, Feature::openat2}) {
    const auto result = lower(policy_from(""), without(feature), situation_of());
    ASSERT_FALSE(result) << to_string(feature);
    EXPECT_EQ(result.error().code(), Errc::unavailable);
    EXPECT_NE(result.error().text().find(to_string(feature)), std::string::npos);
  }
}

TEST(Lowering, RefusesReviewWithoutOverlays) {
  expect_only(
      refused(policy_from("[filesystem]\nreview = true"), without(Feature::overlay),
              situation_of()),
      {"", "", "CORDON-PLAN-REVIEW", "cordon.toml:2", "filesystem.review", "overlay", "sudo mend"});
}

TEST(Lowering, RefusesHostDirectoriesAsRootWithoutIdMappedMounts) {
  const HostFacts host = without(Feature::idmapped_mounts, true);
  expect_only(
      refused(policy_from(""), host, situation_of(true)),
      {"", "", "CORDON-PLAN-HOST", "default", "idmapped_mounts", "id-mapped mount", "sudo mend"});
  Situation ephemeral = situation_of(true);
  ephemeral.workspace_source.reset();
  EXPECT_TRUE(lower(policy_from(""), host, ephemeral));
}

TEST(Lowering, RefusesAWorkspaceThatShowsAHome) {
  for (const std::string_view wide : {"/", "/home", "/home/ada"}) {
    Situation situation = situation_of();
    situation.workspace_source = wide;
    const auto refusals = refused("", situation);
    ASSERT_EQ(refusals.size(), 1U) << wide;
    EXPECT_NE(refusals[0].why.find("too wide"), std::string::npos);
  }
  Situation project = situation_of();
  project.workspace_source = "/home/ada/src";
  EXPECT_TRUE(refused("", project).empty());
}

TEST(Lowering, RefusesAnIncompleteSurvey) {
  Situation situation = situation_of();
  situation.survey.complete = false;
  expect_only(refused("[filesystem]\nhide = [\"**/.env\"]", situation),
              {"", "", "CORDON-PLAN-HIDE", "cordon.toml:2", "filesystem.hide: **/.env",
               "more than 200000 entries", ""});
  EXPECT_TRUE(refused("", situation).empty()) << "nobody asks what is there";
}

TEST(Lowering, RefusesLinksThatItWouldHaveToHold) {
  Situation situation = situation_of();
  situation.survey.found = {{"/srv/shop/.env", PathKind::link}};
  EXPECT_EQ(refused("[filesystem]\nhide = [\"**/.env\"]", situation).size(), 1U);
  EXPECT_EQ(refused("[filesystem]\nprotect = [\".env\"]", situation).size(), 1U);
  EXPECT_TRUE(
      refused("[filesystem]\nmode = \"read_only\"\nprotect = [\".env\"]", situation).empty());
  situation.survey.found = {{"/srv/shop/.git", PathKind::link}};
  EXPECT_EQ(refused("[filesystem]\nreview = true\nprotect = [\".git/hooks\"]", situation).size(),
            1U);
}

TEST(Lowering, RefusesDocumentsThatMeanDifferentTrees) {
  const auto both = [](std::string_view a, std::string_view b) {
    return refused(attenuate(policy_from(a), policy_from(b)), full_host(false), situation_of());
  };
  EXPECT_EQ(both("[filesystem]\nroot = \"dir:/a\"", "[filesystem]\nroot = \"host\"").size(), 1U);
  EXPECT_TRUE(both("[filesystem]\nroot = \"dir:/a\"", "").empty());
  EXPECT_EQ(both("[filesystem]\nworkspace = \"/a\"", "[filesystem]\nworkspace = \"/b\"")[0].code,
            "CORDON-PLAN-WORKSPACE");
  constexpr std::string_view kMount =
      "[filesystem]\nhost_mounts = [{{ source = \"{}\", target = \"/docs\" }}]";
  const auto refusals = both(fmt::format(kMount, "/a"), fmt::format(kMount, "/b"));
  ASSERT_FALSE(refusals.empty());
  EXPECT_EQ(refusals[0].code, "CORDON-PLAN-MOUNT");
}

TEST(Lowering, RefusesCapabilitiesUnderTheStrictFilter) {
  const policy::Policy compat =
      policy_from("[process]\ncapabilities = [\"kill\"]\n[syscalls]\nprofile = \"compat\"");
  EXPECT_TRUE(refused(compat, full_host(false), situation_of()).empty());
  const policy::Policy narrow = policy::narrowed(compat, "[syscalls]\nprofile = \"strict\"");
  expect_only(refused(narrow, full_host(false), situation_of()),
              {"", "", "CORDON-PLAN-CAPABILITIES", "cordon.toml:2", "process.capabilities: kill",
               "strict filter", kExplain});
}

TEST(Lowering, RefusesVariablesThatAreNone) {
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", "x"}, {"A=B", "x"}, {std::string{"A\0B", 3}, "x"}, {"A", std::string{"\0", 1}}}) {
    Situation situation = situation_of();
    situation.environment = {{name, value}};
    const auto refusals = refused("", situation);
    ASSERT_EQ(refusals.size(), 1U);
    EXPECT_EQ(refusals[0].code, "CORDON-PLAN-ENVIRONMENT");
  }
}

TEST(Lowering, RefusesAPlanThatNoLauncherTakes) {
  Situation situation = situation_of();
  for (int i = 0; i < 12000; ++i)
    situation.survey.found.push_back({fmt::format("/srv/shop/d{}/a.pem", i), PathKind::file});
  expect_only(
      refused("[filesystem]\nhide = [\"**/*.pem\"]", situation),
      {"", "", "CORDON-PLAN-SIZE", "default", "12000 hidden or protected paths", "192 KiB", ""});
}

// Never a weaker one instead.
TEST(Lowering, RefusesAWallThatTheHostDoesNotHave) {
  for (const Feature wall : {Feature::gvisor, Feature::microvm}) {
    const std::string text = fmt::format("isolation = \"{}\"", to_string(wall));
    const auto denials = refused(policy_from(text), without(wall), situation_of());
    ASSERT_EQ(denials.size(), 1U);
    EXPECT_EQ(denials.front().code, "CORDON-PLAN-ISOLATION");
    EXPECT_NE(denials.front().why.find("a weaker wall is never taken"), std::string::npos);
    EXPECT_EQ(denials.front().fix, "sudo mend");
    EXPECT_TRUE(refused(policy_from(text), full_host(false), situation_of()).empty());
  }
}

TEST(Lowering, GivesAMachineTheMemoryOfItsPolicy) {
  const auto usual = lowered("isolation = \"microvm\"");
  EXPECT_EQ(usual.plan.engine, frame::Engine::machine);
  EXPECT_EQ(usual.plan.machine.memory, frame::kUsualMachine);
  const auto wanted = lowered("isolation = \"microvm\"\n[resources]\nmemory_limit = \"512Mi\"");
  EXPECT_EQ(wanted.plan.machine.memory, std::uint64_t{512} << 20U);
  // What runs it, and the disk, are beside it in its group.
  EXPECT_GT(wanted.plan.limits.memory.value_or(0), std::uint64_t{512} << 20U);
  const auto little = lowered("isolation = \"microvm\"\n[resources]\nmemory_limit = \"64Mi\"");
  EXPECT_EQ(little.plan.machine.memory, frame::kLeastMachine);
}

TEST(Lowering, TellsAllReasonsAtOnce) {
  std::vector<Denial> refusals;
  const auto result = lower(policy_from("isolation = \"microvm\"\n[network]\ningress = [3000]"),
                            without(Feature::microvm), situation_of(), &refusals);
  ASSERT_FALSE(result);
  EXPECT_EQ(refusals.size(), 2U);
  EXPECT_NE(result.error().text().find("(and 1 more reason)"), std::string::npos);
}

// Bounds on a network hold by themselves where there is none.
TEST(Lowering, TakesBoundsOnANetworkThatADocumentTurnsOff) {
  const policy::Policy site =
      policy_from("[network]\negress_allowlist = [\"a.example\"]\nconnections = 4");
  EXPECT_TRUE(refused(site, full_host(false), situation_of()).empty());
  EXPECT_TRUE(refused(attenuate(site, policy_from("[network]\nmode = \"none\"")), full_host(false),
                      situation_of())
                  .empty());
  EXPECT_FALSE(refused(attenuate(site, policy_from("")), full_host(false), situation_of()).empty())
      << "a document that does not speak must not turn the network off without a word";
}

TEST(Lowering, RefusesANetworkThatTheHostCannotSteer) {
  HostFacts host = full_host(false);
  host[Feature::network_filter] = {Support::absent, "no nf_tables", {}};
  const auto refusals = refused(policy_from("[network]\nmode = \"public\""), host, situation_of());
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals.front().code, "CORDON-PLAN-NETWORK");
  EXPECT_EQ(refusals.front().rule, "cordon.toml:2");
  EXPECT_EQ(refusals.front().fix, kOffline);
}

TEST(Lowering, TellsTheEgressWhatThePolicySays) {
  const Lowered plan = lowered("[network]\negress_allowlist = [\"a.example\"]\nconnections = 4",
                               full_host(false), situation_of());
  EXPECT_TRUE(plan.plan.network);
  ASSERT_TRUE(plan.network);
  const frame::Serve serve = plan.network.value_or(frame::Serve{});
  EXPECT_EQ(serve.id, plan.plan.id);
  ASSERT_EQ(serve.documents.size(), 1U);
  ASSERT_EQ(serve.documents[0].allow.size(), 1U);
  EXPECT_EQ(serve.documents[0].allow[0].host, "a.example");
  EXPECT_EQ(serve.documents[0].allow[0].place.line, 2U);
  EXPECT_EQ(serve.budgets.connections, 4U);
}

TEST(Lowering, SaysThatTheCallerGaveTheNetworkUp) {
  Situation situation = situation_of();
  situation.drop_network = true;
  const Lowered plan = lowered("[network]\nmode = \"public\"", full_host(false), situation);
  EXPECT_FALSE(plan.plan.network);
  EXPECT_NE(mechanism(plan, "network").detail.find("given up"), std::string::npos);
}

TEST(Lowering, TakesNeutralValuesOfKeysThatNothingEnforces) {
  EXPECT_TRUE(refused("[network]\nmode = \"none\"\negress_allowlist = []\ningress = \"deny_all\"\n"
                      "host_ports = []\n[monitor]\nrecord = []\n[output]\nscan = []\n"
                      "[credentials]\nmode = \"none\"\nsecret_scanning = false",
                      situation_of())
                  .empty());
}

}  // namespace
}  // namespace cordon::plan
