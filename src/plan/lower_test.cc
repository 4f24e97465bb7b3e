// SPDX-License-Identifier: Apache-2.0
// What a plan has in it.
#include "plan/lower.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "plan/ingress.h"
#include "plan/lowering_test.h"
#include "plan/survey.h"

namespace cordon::plan {
namespace {

using frame::PathUse;
using frame::Pin;
using frame::PinKind;
using policy::policy_from;

Situation with(std::vector<SurveyedPath> found) {
  Situation situation = situation_of();
  situation.survey.found = std::move(found);
  return situation;
}

std::vector<Pin> pins(std::string_view policy, std::vector<SurveyedPath> found) {
  return lowered(policy, full_host(false), with(std::move(found))).plan.workspace.pins;
}

bool has_variable(const Lowered& lowered, std::string_view line) {
  return std::ranges::find(lowered.environment, line) != lowered.environment.end();
}

TEST(Ingress, IsOfListedPortsWhereSomebodyHoldsIt) {
  constexpr std::string_view kListed = "[network]\ningress = [8080, 80]\n";
  Situation node = situation_of();
  node.has_tunnels = true;
  const Lowered open = lowered(kListed, full_host(false), node);
  EXPECT_EQ(open.ingress, (std::vector<std::uint16_t>{80, 8080}));
  EXPECT_FALSE(open.plan.network);
  EXPECT_EQ(mechanism(open, "ingress").detail, "tunnels to 80, 8080 alone");
  for (const std::string_view closed : {"", "[network]\ningress = \"deny_all\"\n"})
    EXPECT_EQ(lowered(closed, full_host(false), node).ingress, std::vector<std::uint16_t>{});
  const auto under =
      policy::attenuate(policy_from("[network]\ningress = [80, 443]\n"), policy_from(kListed));
  EXPECT_EQ(lower(under, full_host(false), node)->ingress, std::vector<std::uint16_t>{80});
  EXPECT_FALSE(refused(kListed, situation_of()).empty());
}

TEST(Ingress, IsOfEveryPortWhereAllDocumentsSaySo) {
  constexpr std::string_view kEvery = "[network]\ningress = \"every_port\"\n";
  Situation node = situation_of();
  node.has_tunnels = true;
  const Lowered open = lowered(kEvery, full_host(false), node);
  EXPECT_TRUE(lets_in(open.ingress, 1));
  EXPECT_TRUE(lets_in(open.ingress, 65535));
  EXPECT_EQ(mechanism(open, "ingress").detail, "tunnels to any port");
  const auto under = [&](std::string_view ceiling) {
    return lower(policy::attenuate(policy_from(ceiling), policy_from(kEvery)), full_host(false),
                 node)
        ->ingress;
  };
  EXPECT_EQ(under("[network]\ningress = [80, 443]\n"), (std::vector<std::uint16_t>{80, 443}));
  EXPECT_EQ(under(""), std::vector<std::uint16_t>{});
  EXPECT_EQ(under("[network]\ningress = \"deny_all\"\n"), std::vector<std::uint16_t>{});
  EXPECT_FALSE(lets_in({80, 443}, 8080));
}

TEST(Monitor, SeesWhatThePolicyAsksForWhereSomebodyLooks) {
  constexpr std::string_view kAsks = "[monitor]\nrecord = [\"writes\", \"exec\"]\n";
  Situation node = situation_of();
  node.monitor = MonitorSource::kernel;
  const Lowered seen = lowered(kAsks, full_host(false), node);
  EXPECT_EQ(seen.enforcement.reported, (std::vector<std::string>{"exec", "refused", "writes"}));
  EXPECT_EQ(mechanism(seen, "monitor").detail, "exec refused writes");
  EXPECT_EQ(lowered("", full_host(false), node).enforcement.reported,
            std::vector<std::string>{"refused"});
  const auto both =
      policy::attenuate(policy_from("[monitor]\nrecord = [\"connects\"]\n"), policy_from(kAsks));
  EXPECT_EQ(lower(both, full_host(false), node)->enforcement.reported,
            (std::vector<std::string>{"connects", "exec", "refused", "writes"}))
      << "who narrows may ask for more";
  EXPECT_TRUE(lowered("", full_host(false), situation_of()).enforcement.reported.empty());
  EXPECT_FALSE(refused(kAsks, situation_of()).empty());
}

TEST(Monitor, IsToldByTheFilterInLocalUseAndNotOfReads) {
  Situation local = situation_of();
  local.monitor = MonitorSource::witness;
  const Lowered seen = lowered("[monitor]\nrecord = [\"writes\"]\n", full_host(false), local);
  EXPECT_EQ(seen.enforcement.reported, (std::vector<std::string>{"refused", "writes"}));
  EXPECT_TRUE(seen.plan.setup.fences.filter.ends_with("+notify"));
  EXPECT_FALSE(seen.paths.empty());
  EXPECT_FALSE(refused("[monitor]\nrecord = [\"sensitive\"]\n", local).empty());
  EXPECT_FALSE(lowered("").plan.setup.fences.filter.ends_with("+notify"));
}

TEST(Monitor, IsToldByTheEngineWhereAPolicyAsks) {
  Situation behind = situation_of(true);
  behind.monitor = MonitorSource::engine;
  constexpr std::string_view kGvisor = "isolation = \"gvisor\"\n";
  const auto with = [&](std::string_view more) {
    return lowered(std::string{kGvisor} + std::string{more}, full_host(true), behind);
  };
  const Lowered seen = with("[monitor]\nrecord = [\"writes\", \"exec\"]\n");
  EXPECT_TRUE(seen.plan.traced);
  EXPECT_FALSE(seen.plan.setup.fences.filter.ends_with("+notify"));
  EXPECT_EQ(mechanism(seen, "monitor").detail,
            "exec refused writes; not what is renamed or removed, nor refused calls");
  EXPECT_FALSE(seen.paths.empty());
  EXPECT_FALSE(with("").plan.traced) << "each act costs a message";
  EXPECT_TRUE(with("").enforcement.reported.empty());
  EXPECT_TRUE(with("[[response]]\nwhen = \"denials\"\nmore_than = 5\nwithin_seconds = 9\n"
                   "then = \"kill\"\n")
                  .plan.traced);
  EXPECT_FALSE(lowered("", full_host(true), behind).plan.traced) << "without an engine";
  const auto reads = refused(policy_from("isolation = \"gvisor\"\n[monitor]\nrecord = "
                                         "[\"sensitive\"]\n"),
                             full_host(true), behind);
  ASSERT_EQ(reads.size(), 1U);
  EXPECT_NE(reads.front().why.find("behind gvisor what is only read is not told"),
            std::string::npos);
}

TEST(LaunchPlan, HasEveryNamespaceAndNoNewPrivileges) {
  const frame::LaunchPlan plan = lowered("").plan;
  EXPECT_EQ(plan.namespaces, frame::kNamespaces);
  EXPECT_TRUE(plan.no_new_privs);
  EXPECT_FALSE(plan.network);
  EXPECT_TRUE(frame::decode_plan(frame::encode(plan)));
}

TEST(LaunchPlan, GivesRootARangeAndAnOrdinaryUserTheirOwnId) {
  const frame::LaunchPlan root = lowered("", full_host(true), situation_of(true)).plan;
  EXPECT_EQ(root.ids, frame::Ids::range);
  EXPECT_EQ(root.setup.fences.uid, 1000U);
  const frame::LaunchPlan user = lowered("").plan;
  EXPECT_EQ(user.ids, frame::Ids::caller);
  EXPECT_EQ(user.setup.fences.uid, 1234U);
  EXPECT_EQ(user.setup.fences.gid, 1235U);
  EXPECT_EQ(lowered("[process]\nuser = \"root\"").plan.setup.fences.uid, 0U);
}

TEST(LaunchPlan, TakesNothingOddIntoPasswd) {
  for (const std::string_view name : {"a:b", "a\nroot2:x:0:0", "", "root", "Ada"}) {
    Situation situation = situation_of();
    situation.caller_name = name;
    const Lowered plan = lowered("", full_host(false), situation);
    EXPECT_TRUE(has_variable(plan, "USER=user")) << name;
  }
  for (const std::string_view home : {"/", "/usr/home", "/etc", "x", "/home/a:b", "/proc/1"}) {
    Situation situation = situation_of();
    situation.home = home;
    EXPECT_TRUE(has_variable(lowered("", full_host(false), situation), "HOME=/home/user")) << home;
  }
}

TEST(LaunchPlan, RefusesSetIdBitsExactlyWhereTheHostIsWritten) {
  const auto filter = [](std::string_view text, bool bound = true) {
    Situation situation = situation_of();
    if (!bound) situation.workspace_source.reset();
    return lowered(text, full_host(false), situation).plan.setup.fences.filter;
  };
  EXPECT_EQ(filter(""), "strict+nosetid");
  EXPECT_EQ(filter("[filesystem]\nreview = true"), "strict+nosetid");
  EXPECT_EQ(filter("[filesystem]\nmode = \"read_only\""), "strict");
  EXPECT_EQ(filter("", false), "strict");
  EXPECT_EQ(filter("[syscalls]\nprofile = \"compat\"", false), "compat");
  EXPECT_EQ(filter("[filesystem]\nhost_mounts = [{ source = \"/a\", target = \"/b\", mode = "
                   "\"read_write\" }]",
                   false),
            "strict+nosetid");
}

TEST(LaunchPlan, KeepsExactlyTheCapabilitiesThatAreNamed) {
  EXPECT_EQ(lowered("[process]\ncapabilities = [\"net_bind_service\", \"chown\", \"dac_override\", "
                    "\"fowner\", \"fsetid\", \"kill\", \"setgid\", \"setuid\"]\n"
                    "[syscalls]\nprofile = \"compat\"")
                .plan.setup.fences.capabilities,
            (std::vector<std::uint32_t>{0, 1, 3, 4, 5, 6, 7, 10}));
  EXPECT_TRUE(lowered("").plan.setup.fences.capabilities.empty());
}

TEST(LaunchPlan, LetsLandlockWriteOnlyWhatIsTheSandboxs) {
  for (const std::string_view policy : {"", "[filesystem]\nroot = \"dir:/srv/debian\""}) {
    for (const frame::PathRule& rule : lowered(policy).plan.setup.fences.paths) {
      EXPECT_FALSE(rule.path.starts_with("/sys")) << rule.path;
      if (rule.use == PathUse::all) {
        EXPECT_TRUE(rule.path == "/tmp" || rule.path == "/var/tmp" || rule.path == "/dev/shm" ||
                    rule.path == "/srv/shop" || rule.path == lowered(policy).plan.directories[1])
            << rule.path;
      }
      if (rule.use == PathUse::device) EXPECT_TRUE(rule.path.starts_with("/dev/"));
    }
  }
  const auto& paths = lowered("[filesystem]\nmode = \"read_only\"").plan.setup.fences.paths;
  EXPECT_EQ(paths.back(), (frame::PathRule{"/srv/shop", PathUse::read_exec}));
}

TEST(LaunchPlan, UsesLandlockAsFarAsTheHostAndThisVersionGo) {
  for (const int abi : {0, 1, 4, 7, 9}) {
    HostFacts host = full_host(false);
    host.landlock_abi = abi;
    const Lowered plan = lowered("", host, situation_of());
    EXPECT_EQ(plan.plan.setup.fences.landlock_abi, std::min(abi, 7));
    EXPECT_EQ(mechanism(plan, "landlock").hold, abi == 0 ? Hold::absent : Hold::held);
    EXPECT_EQ(mechanism(plan, "landlock").detail.find("without") != std::string::npos,
              abi > 0 && abi < 7);
  }
}

TEST(LaunchPlan, ShowsOfEtcNeverWhatIsWrittenAnew) {
  const frame::LaunchPlan plan = lowered("").plan;
  for (const frame::OwnFile& file : plan.files) {
    for (const frame::Bind& bind : plan.binds) EXPECT_NE(bind.target, file.target);
  }
  EXPECT_EQ(plan.files.size(), 6U);
}

TEST(LaunchPlan, LeavesOutWhatIsHiddenOfTheSystem) {
  const frame::LaunchPlan plan =
      lowered("[filesystem]\nhide = [\"/opt\", \"/etc/hosts\", \"/etc/gitconfig\", \"/srv/x\"]")
          .plan;
  for (const frame::Bind& bind : plan.binds) {
    EXPECT_NE(bind.target, "/opt");
    EXPECT_NE(bind.target, "/etc/gitconfig");
  }
  for (const frame::OwnFile& file : plan.files) EXPECT_NE(file.target, "/etc/hosts");
}

TEST(LaunchPlan, PutsTheWorkspaceBeforeADirectoryOfItsOwnAtTheSamePlace) {
  const frame::LaunchPlan plan = lowered("[filesystem]\nworkspace = \"/tmp\"").plan;
  EXPECT_EQ(plan.directories, (std::vector<std::string>{"/dev/shm", "/home/ada", "/var/tmp"}));
  EXPECT_EQ(plan.setup.disk, "/dev/shm");
}

TEST(LaunchPlan, TouchesNothingOfADirectoryRoot) {
  const frame::LaunchPlan plan = lowered("[filesystem]\nroot = \"dir:/srv/debian\"").plan;
  EXPECT_EQ(plan.root, frame::RootSource::directory);
  EXPECT_EQ(plan.root_path, "/srv/debian");
  EXPECT_TRUE(plan.binds.empty());
  EXPECT_TRUE(plan.files.empty());
}

TEST(Mounts, AreMadeOnlyWhereEveryDocumentGrantsThem) {
  const auto binds = [](const policy::Policy& policy) {
    auto plan = lower(policy, full_host(false), situation_of());
    EXPECT_TRUE(plan) << plan.error().text();
    std::erase_if(plan->plan.binds, [](const frame::Bind& bind) { return bind.optional; });
    return plan->plan.binds;
  };
  const policy::Policy write = policy_from(
      "[filesystem]\nhost_mounts = [{ source = \"~/d\", target = \"/d\", mode = \"read_write\" }]");
  const policy::Policy read =
      policy_from("[filesystem]\nhost_mounts = [{ source = \"/home/ada/d\", target = \"/d\" }]");
  const frame::Bind mount{"/home/ada/d", "/d", true, false};
  EXPECT_EQ(binds(write), std::vector{mount});
  const frame::Bind narrower{"/home/ada/d", "/d", false, false};
  EXPECT_EQ(binds(attenuate(write, read)), std::vector{narrower});
  EXPECT_TRUE(binds(attenuate(write, policy_from(""))).empty());
  EXPECT_EQ(binds(policy::narrowed(write, "[filesystem]\nprotect = [\"/d\"]")),
            std::vector{narrower});
  EXPECT_TRUE(binds(policy::narrowed(write, "[filesystem]\nhide = [\"/d\"]")).empty());
}

TEST(Mounts, ThatHoldHiddenOrProtectedFilesAreRefused) {
  constexpr std::string_view kRead =
      "[filesystem]\nhost_mounts = [{ source = \"/a\", target = \"/d\" }]\nhide = [\"**/.env\"]\n"
      "protect = [\"**/x\"]";
  EXPECT_TRUE(refused(kRead, with({{"/d/x", PathKind::file}})).empty());
  EXPECT_EQ(refused(kRead, with({{"/d/.env", PathKind::file}})).size(), 1U);
  const std::string write =
      std::string{kRead}.replace(kRead.find(" }"), 2, ", mode = \"read_write\" }");
  EXPECT_EQ(refused(write, with({{"/d/x", PathKind::file}})).size(), 1U);
  EXPECT_EQ(refused("[filesystem]\nhost_mounts = [{ source = \"/a\", target = \"/d\" }]\nhide = "
                    "[\"/d/secret\"]",
                    situation_of())
                .size(),
            1U);
}

TEST(Pins, CoverWhatExistsOnALiveWorkspace) {
  EXPECT_EQ(pins("[filesystem]\nhide = [\"**/.env\"]\nprotect = [\".git\"]",
                 {{"/srv/shop/b/.env", PathKind::file},
                  {"/srv/shop/.git", PathKind::directory},
                  {"/srv/shop/.git/hooks", PathKind::directory},
                  {"/srv/shop/.git/.env", PathKind::file},
                  {"/srv/shop/other", PathKind::file}}),
            (std::vector<Pin>{{".git", PinKind::read_only, true, false},
                              {".git/.env", PinKind::hide, false, false},
                              {"b/.env", PinKind::hide, false, false}}));
}

TEST(Pins, OfAHiddenDirectoryHoldAllBelow) {
  EXPECT_EQ(pins("[filesystem]\nhide = [\"a\", \"**/.env\"]\nprotect = [\"**/x\"]",
                 {{"/srv/shop/a", PathKind::directory},
                  {"/srv/shop/a/.env", PathKind::file},
                  {"/srv/shop/a/x", PathKind::file},
                  {"/srv/shop/a.b/x", PathKind::file}}),
            (std::vector<Pin>{{"a", PinKind::hide, true, false},
                              {"a.b/x", PinKind::read_only, false, false}}));
}

TEST(Pins, StandInForNamesThatDoNotExistWhereThereIsALayerOfOurOwn) {
  constexpr std::string_view kPolicy =
      "[filesystem]\nreview = true\nhide = [\"secret\"]\nprotect = [\".git/hooks\", \".git\"]";
  const std::vector<Pin> expected = {{".git", PinKind::read_only, true, true},
                                     {"secret", PinKind::hide, true, true}};
  EXPECT_EQ(pins(kPolicy, {}), expected);
  Situation ephemeral = situation_of();
  ephemeral.workspace_source.reset();
  EXPECT_EQ(lowered(kPolicy, full_host(false), ephemeral).plan.workspace.pins, expected);
}

TEST(Pins, HoldTheFileThatStandsInTheWayOfAName) {
  EXPECT_EQ(pins("[filesystem]\nprotect = [\".git/hooks\"]", {{"/srv/shop/.git", PathKind::file}}),
            (std::vector<Pin>{{".git", PinKind::read_only, false, false}}));
}

TEST(Pins, OfAReadOnlyWorkspaceAreOnlyTheHidden) {
  EXPECT_EQ(
      pins("[filesystem]\nmode = \"read_only\"\nhide = [\"**/.env\"]\nprotect = [\"a\", \"b\"]",
           {{"/srv/shop/a", PathKind::file}, {"/srv/shop/.env", PathKind::file}}),
      (std::vector<Pin>{{".env", PinKind::hide, false, false}}));
}

TEST(Enforcement, SaysThatGlobsHoldAtLaunchAndNamesHold) {
  const auto hold = [](std::string_view policy) {
    return mechanism(lowered(policy, full_host(false), with({{"/srv/shop/a", PathKind::file}})),
                     "hide")
        .hold;
  };
  EXPECT_EQ(hold("[filesystem]\nhide = [\"a\"]"), Hold::held);
  EXPECT_EQ(hold("[filesystem]\nhide = [\"a\", \"**/.env\"]"), Hold::at_launch);
}

TEST(Survey, LooksUpNamesAndWalksOnlyForGlobs) {
  const auto trees = [](std::string_view policy) {
    return trees_to_survey(policy_from(policy), situation_of());
  };
  EXPECT_TRUE(trees("").empty());
  EXPECT_EQ(trees("[filesystem]\nprotect = [\".git/hooks\", \"/srv/shop/a\", \"/etc/x\"]"),
            (std::vector<SurveyTree>{{"/srv/shop", "/srv/shop", {".git/hooks", "a"}, false}}));
  EXPECT_EQ(trees("[filesystem]\nworkspace = \"/w\"\nhide = [\"src/*\"]\nhost_mounts = [{ source = "
                  "\"~/d\", target = \"/d\" }]"),
            (std::vector<SurveyTree>{{"/srv/shop", "/w", {}, true}}));
  EXPECT_EQ(trees("[filesystem]\nhide = [\"**/.env\"]\nhost_mounts = [{ source = \"~/d\", target = "
                  "\"/d\" }]"),
            (std::vector<SurveyTree>{{"/srv/shop", "/srv/shop", {}, true},
                                     {"/home/ada/d", "/d", {}, true}}));
}

TEST(Survey, JudgesByTheDocumentThatSpeaks) {
  const policy::Policy policy =
      policy::narrowed(policy_from("[filesystem]\nmode = \"read_only\"\nprotect = [\"**/b\"]"),
                       "[filesystem]\nhide = [\"a\"]");
  EXPECT_EQ(cover_of(policy, "/w/a/x", "/w"), Cover::hide);
  EXPECT_EQ(cover_of(policy, "/w/a/b", "/w"), Cover::hide);
  EXPECT_EQ(cover_of(policy, "/w/c/b", "/w"), Cover::protect);
  EXPECT_EQ(cover_of(policy, "/w/c", "/w"), Cover::none);
}

TEST(Environment, HasOnlyWhatIsPassedOrSetAndWhatNobodyCanDoWithout) {
  const Lowered plan = lowered("[environment]\nset = { CI = \"1\", LANG = \"de\" }");
  EXPECT_EQ(plan.environment,
            (std::vector<std::string>{
                "CI=1", "CORDON=1", "CORDON_SANDBOX=k7f3", "HOME=/home/ada", "LANG=de",
                "LOGNAME=ada", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "SHELL=/bin/sh", "USER=ada"}));
}

TEST(Environment, TakesTheFirstDocumentsValueAndNoneOfAWorkspaceFile) {
  const auto plan = lower(
      policy::narrowed(attenuate(policy_from("[environment]\npass = [\"LANG\", \"B\"]\nset = { A = "
                                             "\"1\" }"),
                                 policy_from("[environment]\npass = [\"LANG\", \"B\"]\nset = { A = "
                                             "\"2\", C = \"2\" }")),
                       "[environment]\nset = { A = \"3\", LANG = \"3\", B = \"3\" }"),
      full_host(false), situation_of());
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_TRUE(has_variable(*plan, "A=1"));
  EXPECT_FALSE(has_variable(*plan, "C=2")) << "the first document does not grant it";
}

TEST(Disk, IsInMemoryWhereItFitsAndAnImageForRoot) {
  const auto disk = [](std::string_view resources, bool root) {
    return lowered(std::string{"[resources]\n"}.append(resources), full_host(root),
                   situation_of(root))
        .plan.disk;
  };
  constexpr std::uint64_t kMi = std::uint64_t{1} << 20U;
  EXPECT_EQ(disk("", false), (frame::Disk{1024 * kMi, 200'000, false}));
  EXPECT_EQ(disk("memory_limit = \"64Mi\"", false), (frame::Disk{64 * kMi, 16'384, false}));
  EXPECT_EQ(disk("disk_limit = \"1Mi\"\ninodes_limit = 20", false), (frame::Disk{kMi, 20, false}));
  EXPECT_EQ(disk("memory_limit = \"64Mi\"\ndisk_limit = \"65Mi\"", true),
            (frame::Disk{65 * kMi, 16'640, true}));
  EXPECT_EQ(disk("disk_limit = \"1Mi\"", false).inodes, 1024U);
}

TEST(Disk, OfAnImageHasNoMoreFilesThanItsTablesAreWorth) {
  const Lowered plan =
      lowered("[resources]\nmemory_limit = \"1Mi\"\ndisk_limit = \"2Mi\"\ninodes_limit = 1000000",
              full_host(true), situation_of(true));
  EXPECT_EQ(plan.plan.disk, (frame::Disk{2U << 20U, 2048, true}));
}

TEST(WorkspaceGrowth, IsCountedWhereADiskLimitIsStated) {
  constexpr std::string_view kPolicy = "[resources]\ndisk_limit = \"1Mi\"";
  const std::string review = std::string{kPolicy} + "\n[filesystem]\nreview = true";
  Situation counted = situation_of();
  counted.survey.workspace_bytes = 5000;
  const Lowered live = lowered(kPolicy, full_host(false), counted);
  EXPECT_EQ(live.budgets.workspace, 1U << 20U);
  EXPECT_EQ(live.budgets.workspace_before, 5000U);
  EXPECT_EQ(mechanism(live, "workspace_disk").hold, Hold::supervised);

  const Lowered layer = lowered(review, full_host(false), situation_of());
  EXPECT_EQ(layer.budgets.workspace, 1U << 20U);
  EXPECT_EQ(layer.budgets.workspace_before, 0U);
  EXPECT_EQ(mechanism(layer, "workspace_disk").hold, Hold::supervised);
}

TEST(WorkspaceGrowth, IsToldToBeFreeWhereNobodyCountsIt) {
  Situation counted = situation_of();
  counted.survey.workspace_bytes = 5000;
  const Lowered without_limit = lowered("", full_host(false), counted);
  EXPECT_FALSE(without_limit.budgets.workspace);
  EXPECT_EQ(mechanism(without_limit, "workspace_disk").hold, Hold::absent);

  const Lowered too_large =
      lowered("[resources]\ndisk_limit = \"1Mi\"", full_host(false), situation_of());
  EXPECT_FALSE(too_large.budgets.workspace);
  EXPECT_EQ(mechanism(too_large, "workspace_disk").hold, Hold::absent);
  EXPECT_NE(mechanism(too_large, "workspace_disk").detail.find("more than 100000 files"),
            std::string::npos);
}

TEST(Survey, IsAskedForDisksAndBytesOnlyWhereALimitNeedsThem) {
  EXPECT_TRUE(paths_with_io_limit(policy_from(""), situation_of()).empty());
  EXPECT_EQ(workspace_to_count(policy_from(""), situation_of()), "");
  const auto paths = [](std::string_view text) {
    return paths_with_io_limit(policy_from(text), situation_of());
  };
  EXPECT_EQ(paths("[resources]\nio_limit = \"1Mi\""), std::vector<std::string>{"/srv/shop"});
  EXPECT_EQ(paths("[filesystem]\nreview = true\n[resources]\nio_limit = \"1Mi\""),
            (std::vector<std::string>{"/srv/shop", "/var/lib/cordon/runs/k7f3"}));
  constexpr std::string_view kDisk = "[resources]\ndisk_limit = \"1Mi\"";
  EXPECT_EQ(workspace_to_count(policy_from(kDisk), situation_of()), "/srv/shop");
  EXPECT_EQ(workspace_to_count(policy_from(std::string{kDisk} + "\n[filesystem]\nreview = true"),
                               situation_of()),
            "");
}

TEST(Limits, AreKeptByGroupsOrSupervised) {
  constexpr std::string_view kPolicy =
      "[resources]\nmemory_limit = \"64Mi\"\npids_limit = 9\ncpu_limit = \"2\"\ncpu_seconds = 3\n"
      "timeout_seconds = 4\nopen_files = 99";
  const Lowered groups = lowered(kPolicy);
  EXPECT_TRUE(groups.plan.groups);
  EXPECT_EQ(groups.plan.limits.pids, 9U);
  EXPECT_EQ(groups.plan.limits.milli_cpus, 2000U);
  EXPECT_EQ(groups.plan.setup.fences.limits.processes, 0U);
  EXPECT_FALSE(groups.budgets.memory);
  EXPECT_EQ(mechanism(groups, "memory").hold, Hold::held);
  EXPECT_EQ(groups.budgets.wall, std::chrono::seconds{4});

  const Lowered bare = lowered(kPolicy, without(Feature::cgroup), situation_of());
  EXPECT_FALSE(bare.plan.groups);
  EXPECT_EQ(bare.plan.limits, frame::GroupLimits{});
  EXPECT_EQ(bare.plan.setup.fences.limits.processes, 9U);
  EXPECT_EQ(bare.plan.setup.fences.limits.open_files, 99U);
  EXPECT_EQ(bare.budgets.memory, std::uint64_t{64} << 20U);
  EXPECT_EQ(mechanism(bare, "memory").hold, Hold::supervised);
  EXPECT_EQ(mechanism(bare, "pids").hold, Hold::held);
  EXPECT_EQ(mechanism(bare, "cpu").hold, Hold::absent);
}

TEST(Limits, OfBytesToDiskAreNotHeldOnVersionOne) {
  HostFacts host = full_host(true);
  const auto hold = [&] {
    return mechanism(lowered("[resources]\nio_limit = \"1Mi\"", host, situation_of(true)), "io")
        .hold;
  };
  EXPECT_EQ(hold(), Hold::held);
  host.cgroup_layout = CgroupLayout::hybrid;
  host.controllers = {"blkio", "cpu", "memory", "pids"};
  EXPECT_EQ(hold(), Hold::absent);
}

TEST(Limits, AreTakenControllerByController) {
  HostFacts host = full_host(false);
  host[Feature::cgroup].support = Support::limited;
  host.controllers = {"pids"};
  const Lowered plan =
      lowered("[resources]\nmemory_limit = \"64Mi\"\npids_limit = 9", host, situation_of());
  EXPECT_TRUE(plan.plan.groups);
  EXPECT_EQ(plan.plan.limits.pids, 9U);
  EXPECT_FALSE(plan.plan.limits.memory);
  EXPECT_TRUE(plan.budgets.memory);
}

}  // namespace
}  // namespace cordon::plan
