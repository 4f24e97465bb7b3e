// SPDX-License-Identifier: Apache-2.0
#include "launcher/floor.h"

#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "launcher/plan_mutation_test.h"
#include "os/filter/filter.h"

namespace cordon::launcher {
namespace {

using frame::LaunchPlan;

Result<JudgedPlan> judged(const LaunchPlan& plan, const Floor& floor = root_floor()) {
  auto received = frame::decode_plan(frame::encode(plan));
  if (!received) return received.error();
  return judge(*received, floor);
}

TEST(Floor, LetsAPlanPassThatKeepsIt) {
  const auto passed = judged(good_plan());
  ASSERT_TRUE(passed) << passed.error().text();
  EXPECT_EQ(**passed, good_plan());
}

struct Below {
  const char* name;
  std::function<void(LaunchPlan&)> change;
};

class FloorRefuses : public ::testing::TestWithParam<Below> {};

TEST_P(FloorRefuses, APlanThat) {
  LaunchPlan plan = good_plan();
  GetParam().change(plan);
  const auto passed = judged(plan);
  ASSERT_FALSE(passed);
  EXPECT_EQ(passed.error().code(), Errc::denied) << passed.error().text();
}

const Below kBelow[] = {
    {"LacksANamespace", [](LaunchPlan& p) { p.namespaces &= ~0x40000000U; }},
    {"HasANamespaceBitTooMany", [](LaunchPlan& p) { p.namespaces |= 0x80U; }},
    {"LacksNoNewPrivs", [](LaunchPlan& p) { p.no_new_privs = false; }},
    {"HasATenantOfOthersAlphabet", [](LaunchPlan& p) { p.tenant = "../x"; }},
    {"HasAnIdOfOthersAlphabet", [](LaunchPlan& p) { p.id = "../x"; }},
    {"HasNoId", [](LaunchPlan& p) { p.id.clear(); }},
    {"NamesNoFilter", [](LaunchPlan& p) { p.setup.fences.filter.clear(); }},
    {"NamesAnUnknownFilter", [](LaunchPlan& p) { p.setup.fences.filter = "none"; }},
    {"NamesTheFilterOfPid1", [](LaunchPlan& p) { p.setup.fences.filter = "init"; }},
    {"LetsSetIdBitsBeSetOnTheHost", [](LaunchPlan& p) { p.setup.fences.filter = "strict"; }},
    {"GrantsAdministration", [](LaunchPlan& p) { p.setup.fences.capabilities = {21}; }},
    {"GrantsACapabilityThatDoesNotExist",
     [](LaunchPlan& p) { p.setup.fences.capabilities = {64}; }},
    {"GrantsCapabilitiesUnderStrict", [](LaunchPlan& p) { p.setup.fences.capabilities = {0}; }},
    {"IsSomebodyOutsideTheRange", [](LaunchPlan& p) { p.setup.fences.uid = kRange; }},
    {"IsAGroupOutsideTheRange", [](LaunchPlan& p) { p.setup.fences.gid = 0xffffffffU; }},
    {"TakesTheCallersId", [](LaunchPlan& p) { p.ids = frame::Ids::caller; }},
    {"ShowsAPathOutsideTheFloor", [](LaunchPlan& p) { p.binds[0].source = "/root/secret"; }},
    {"ShowsAPathThatOnlyBeginsLikeTheFloor", [](LaunchPlan& p) { p.binds[0].source = "/srvx"; }},
    {"ClimbsOutOfTheFloor", [](LaunchPlan& p) { p.binds[0].source = "/srv/../root"; }},
    {"WritesTheLaunchersOwnFiles",
     [](LaunchPlan& p) {
       p.binds[0].writable = true;
       p.binds[0].source = "/var/lib/cordon/disks";
     }},
    {"HasARelativeSource", [](LaunchPlan& p) { p.binds[0].source = "srv"; }},
    {"HasASourceWithANul", [](LaunchPlan& p) { p.binds[0].source = std::string("/srv\0/x", 7); }},
    {"MountsOverProc", [](LaunchPlan& p) { p.binds[0].target = "/proc"; }},
    {"MountsInProc", [](LaunchPlan& p) { p.binds[0].target = "/proc/sys/kernel"; }},
    {"MountsOverDev", [](LaunchPlan& p) { p.binds[0].target = "/dev/null"; }},
    {"MountsOverTheRoot", [](LaunchPlan& p) { p.binds[0].target = "/"; }},
    {"WritesAFileInDev", [](LaunchPlan& p) { p.files = {{"/dev/x", ""}}; }},
    {"HasADirectoryInSys", [](LaunchPlan& p) { p.directories = {"/sys"}; }},
    {"HasAWorkspaceOutsideTheFloor", [](LaunchPlan& p) { p.workspace.source = "/etc"; }},
    {"KeepsStateOutsideTheFloor",
     [](LaunchPlan& p) {
       p.workspace.kind = frame::WorkspaceKind::review;
       p.workspace.state = "/etc";
     }},
    {"PinsOutsideTheWorkspace", [](LaunchPlan& p) { p.workspace.pins[0].path = "../x"; }},
    {"PinsAnAbsolutePath", [](LaunchPlan& p) { p.workspace.pins[0].path = "/x"; }},
    {"MakesAPlaceholderOnTheHost", [](LaunchPlan& p) { p.workspace.pins[0].placeholder = true; }},
    {"HasADirectoryRootOutsideTheFloor",
     [](LaunchPlan& p) {
       p.root = frame::RootSource::directory;
       p.root_path = "/";
     }},
    {"LaysALayerOverTheHostsPrograms", [](LaunchPlan& p) { p.root_layer = true; }},
    {"HasAHomeInARootWithoutALayer", [](LaunchPlan& p) { p.homes = {"/home/user"}; }},
    {"HasADiskWithoutALimit", [](LaunchPlan& p) { p.disk.bytes = 0; }},
    {"HasADiskWithoutALimitOfFiles", [](LaunchPlan& p) { p.disk.inodes = 0; }},
    {"WantsADiskImage", [](LaunchPlan& p) { p.disk.image = true; }},
    {"HasALandlockRuleThatIsNoPath", [](LaunchPlan& p) { p.setup.fences.paths = {{"x"}}; }},
    {"HasATraceWithoutAnEngine", [](LaunchPlan& p) { p.traced = true; }},
    {"HasAHostNameWithoutEnd", [](LaunchPlan& p) { p.host_name.assign(65, 'a'); }},
};

INSTANTIATE_TEST_SUITE_P(Plan, FloorRefuses, ::testing::ValuesIn(kBelow),
                         [](const auto& info) { return std::string{info.param.name}; });

TEST(Floor, LaysALayerOverADirectoryOfItsOwn) {
  Floor floor = root_floor();
  LaunchPlan plan = good_plan();
  plan.root = frame::RootSource::directory;
  plan.root_path = floor.sources.front() + "/image";
  plan.root_layer = true;
  plan.homes = {"/home/user"};
  EXPECT_TRUE(judged(plan, floor));
  plan.homes = {"/dev/user"};
  EXPECT_FALSE(judged(plan, floor));
  plan.homes = {"/home/../dev"};
  EXPECT_FALSE(judged(plan, floor));
}

TEST(Floor, HoldsTheLeastWall) {
  Floor floor = root_floor();
  floor.least_engine = frame::Engine::gvisor;
  EXPECT_FALSE(judged(good_plan(), floor));
  LaunchPlan behind = good_plan();
  behind.engine = frame::Engine::gvisor;
  EXPECT_TRUE(judged(behind, floor));
  EXPECT_TRUE(judged(behind));
}

TEST(Floor, GivesTheCallersIdOnlyWhereThereAreNoRanges) {
  LaunchPlan plan = good_plan();
  EXPECT_FALSE(judged(plan, user_floor()));
  plan.ids = frame::Ids::caller;
  EXPECT_TRUE(judged(plan, user_floor()));
}

TEST(Floor, TakesDiskImagesOnlyWhereTheyCanBeMade) {
  Floor floor = root_floor();
  LaunchPlan plan = good_plan();
  plan.disk = {.bytes = 2U << 20U, .inodes = 1000, .image = true};
  EXPECT_FALSE(judged(plan, floor));
  floor.disk_images = true;
  EXPECT_TRUE(judged(plan, floor));
  plan.disk.inodes = 2049;
  EXPECT_FALSE(judged(plan, floor)) << "tables without bound";
  plan.disk = {.bytes = (1U << 20U) - 1, .inodes = 16, .image = true};
  EXPECT_FALSE(judged(plan, floor)) << "too small to be one";
  Floor users = user_floor();
  users.disk_images = true;
  plan = good_plan();
  plan.ids = frame::Ids::caller;
  plan.disk = {.bytes = 2U << 20U, .inodes = 1000, .image = true};
  EXPECT_FALSE(judged(plan, users)) << "its files would be the caller's";
}

TEST(Floor, ShowsNothingWritableThatTheLauncherTrusts) {
  Floor floor = root_floor();
  floor.sources = {"/"};
  for (const char* source : {"/", "/var", "/var/lib", "/var/lib/cordon", "/var/lib/cordon/disks",
                             "/var/lib/cordon/disks/x", "/run", "/run/cordon"}) {
    LaunchPlan plan = good_plan();
    plan.binds[0].source = source;
    EXPECT_TRUE(judged(plan, floor)) << source << ", read-only";
    plan.binds[0].writable = true;
    EXPECT_FALSE(judged(plan, floor)) << source;
    plan = good_plan();
    plan.workspace.source = source;
    EXPECT_FALSE(judged(plan, floor)) << source << ", as the workspace";
  }
  LaunchPlan plan = good_plan();
  plan.workspace.source = "/var/lib/cordonade";
  EXPECT_TRUE(judged(plan, floor));
}

TEST(Floor, WithoutWritableBindsNothingOfTheHostIsWritten) {
  Floor floor = root_floor();
  floor.writable_binds = false;
  LaunchPlan plan = good_plan();
  EXPECT_FALSE(judged(plan, floor));
  plan.workspace.writable = false;
  EXPECT_TRUE(judged(plan, floor));
  plan.workspace.kind = frame::WorkspaceKind::review;  // its upper layer is written
  plan.workspace.state = "/srv/state";
  EXPECT_TRUE(judged(plan));
  EXPECT_FALSE(judged(plan, floor));
  plan = good_plan();
  plan.workspace = {.target = "/w"};
  EXPECT_TRUE(judged(plan, floor));
  plan.binds[0].writable = true;
  EXPECT_FALSE(judged(plan, floor));
}

TEST(Floor, ShowsNoSandboxTheHostsRoot) {
  Floor floor = root_floor();
  floor.sources = {"/"};
  LaunchPlan plan = good_plan();
  plan.root = frame::RootSource::directory;
  plan.root_path = "/";
  EXPECT_FALSE(judged(plan, floor));
  plan = good_plan();
  plan.workspace.source = "/";
  EXPECT_FALSE(judged(plan, floor));
}

// The law again, in other words than floor.cc has: what no passed plan may have.
void expect_above(const LaunchPlan& plan) {
  const frame::Fences& fences = plan.setup.fences;
  EXPECT_EQ(plan.namespaces, 0x7e020000U);
  EXPECT_TRUE(plan.no_new_privs);
  EXPECT_EQ(plan.tenant.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz"),
            std::string::npos);
  EXPECT_LT(fences.uid, 65'536U);
  EXPECT_LT(fences.gid, 65'536U);
  const bool compat = fences.filter == "compat" || fences.filter.starts_with("compat+");
  EXPECT_TRUE(compat || fences.filter == "strict" || fences.filter.starts_with("strict+"));
  EXPECT_TRUE(os::find_filter(fences.filter).has_value());
  if (!compat) EXPECT_TRUE(fences.capabilities.empty());
  for (const std::uint32_t capability : fences.capabilities) EXPECT_LT(capability, 11U);
  bool writes = plan.workspace.kind != frame::WorkspaceKind::own_disk && plan.workspace.writable;
  for (const frame::Bind& bind : plan.binds) {
    writes = writes || bind.writable;
    EXPECT_TRUE(bind.source == "/srv" || bind.source.starts_with("/srv/")) << bind.source;
    EXPECT_EQ(bind.source.find("/.."), std::string::npos);
    EXPECT_FALSE(bind.target.starts_with("/proc/") || bind.target == "/proc") << bind.target;
    EXPECT_FALSE(bind.target.starts_with("/dev/") || bind.target == "/dev") << bind.target;
  }
  if (writes) EXPECT_NE(fences.filter.find("+nosetid"), std::string::npos);
}

TEST(Floor, HoldsAgainstMutatedPlans) {
  // `./dev full` has a real launcher judge a million of them; this many fit here.
  constexpr int kPlans = 5'000;
  std::mt19937 random{20'261'115};
  int passed = 0;
  for (int round = 0; round < kPlans; ++round) {
    const std::vector<std::byte> bytes = mutated_plan(random);
    auto received = frame::decode_plan(bytes);
    if (!received) continue;
    const auto kept = judge(*received, root_floor());
    if (!kept) continue;
    ++passed;
    expect_above(**kept);
    if (::testing::Test::HasFailure()) FAIL() << "round " << round;
  }
  // Neither so gentle that all pass, nor so wild that none does.
  EXPECT_GT(passed, kPlans / 100);
  EXPECT_LT(passed, kPlans * 9 / 10);
}

}  // namespace
}  // namespace cordon::launcher
