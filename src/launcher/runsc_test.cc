// SPDX-License-Identifier: Apache-2.0
// C292: what runsc is told, word by word.
#include "launcher/runsc.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "launcher/plan_mutation_test.h"

namespace cordon::launcher {
namespace {

frame::LaunchPlan behind_gvisor() {
  frame::LaunchPlan plan = good_plan();
  plan.id = "abc";
  plan.engine = frame::Engine::gvisor;
  plan.host_name = "cordon";
  plan.directories = {"/tmp", "/home/user"};
  plan.workspace.target = "/work \"x\"\n";
  plan.setup.fences.capabilities = {};
  return plan;
}

using Words = std::vector<std::string>;

TEST(Runsc, IsToldNothingElse) {
  frame::LaunchPlan plan = behind_gvisor();
  plan.network = false;
  EXPECT_EQ(runsc_arguments(plan),
            (Words{"runsc", "--root=/run/runsc", "--platform=ptrace", "--network=none",
                   "--ignore-cgroups", "--host-uds=none", "--host-fifo=none", "--net-raw=false",
                   "--overlay2=none", "--directfs=false", "run", "--bundle=/bundle", "abc"}));
}

TEST(Runsc, IsNotToldOfFilesWhereItIsTooOldToKnow) {
  frame::LaunchPlan plan = behind_gvisor();
  plan.platform = frame::Platform::old_ptrace;
  const Words words = runsc_arguments(plan);
  EXPECT_EQ(words[2], "--platform=ptrace");
  EXPECT_EQ(std::ranges::count(words, "--directfs=false"), 0);
}

TEST(Runsc, HasItsOwnStackWhereThereIsANetwork) {
  frame::LaunchPlan plan = behind_gvisor();
  plan.network = true;
  plan.platform = frame::Platform::systrap;
  const Words words = runsc_arguments(plan);
  EXPECT_EQ(words[2], "--platform=systrap");
  EXPECT_EQ(words[3], "--network=sandbox");
  EXPECT_NE(runsc_bundle(plan).find(R"({"type":"network","path":"/proc/self/ns/net"})"),
            std::string::npos);
}

TEST(Runsc, IsTheFirstToEndWhereItWouldWaitForWhomItRuns) {
  frame::LaunchPlan plan = behind_gvisor();
  plan.platform = frame::Platform::systrap;
  EXPECT_NE(runsc_bundle(plan).find(R"("oomScoreAdj":1000,)"), std::string::npos);
  plan.platform = frame::Platform::ptrace;
  EXPECT_EQ(runsc_bundle(plan).find("oomScoreAdj"), std::string::npos);
}

TEST(Runsc, IsAskedToTellOnlyWhereThePlanWantsIt) {
  frame::LaunchPlan plan = behind_gvisor();
  plan.traced = true;
  const Words words = runsc_arguments(plan);
  EXPECT_EQ(words[words.size() - 4], "--pod-init-config=/bundle/session.json");
}

TEST(Runsc, SharesOneIdWhereThereIsNoOther) {
  frame::LaunchPlan plan = behind_gvisor();
  plan.ids = frame::Ids::caller;
  plan.setup.fences.uid = 0;
  const Words words = runsc_arguments(plan);
  EXPECT_EQ(words[words.size() - 4], "--rootless");
  EXPECT_NE(runsc_bundle(plan).find(R"("user":{"uid":0,"gid":0},"args":["/.cordon/init","stdio"])"),
            std::string::npos);
}

TEST(Runsc, ReadsThisBundle) {
  frame::LaunchPlan plan = behind_gvisor();
  plan.network = false;
  plan.ids = frame::Ids::range;
  EXPECT_EQ(
      runsc_bundle(plan),
      R"({"ociVersion":"1.0.2","hostname":"cordon","root":{"path":"/sandbox","readonly":false},)"
      R"("process":{"user":{"uid":0,"gid":0},"args":["/.cordon/init","stdio-as-root"],"cwd":"/",)"
      R"("env":[],"noNewPrivileges":true,"capabilities":{"bounding":[],)"
      R"("effective":["CAP_KILL","CAP_SETGID","CAP_SETUID"],)"
      R"("permitted":["CAP_KILL","CAP_SETGID","CAP_SETUID"],)"
      R"("inheritable":["CAP_KILL","CAP_SETGID","CAP_SETUID"],)"
      R"("ambient":["CAP_KILL","CAP_SETGID","CAP_SETUID"]}},)"
      R"("mounts":[{"destination":"/proc","type":"proc","source":"proc"},)"
      R"({"destination":"/dev","type":"tmpfs","source":"tmpfs"},)"
      R"({"destination":"/home/user","type":"bind","source":"/sandbox/home/user","options":["rbind"]},)"
      R"({"destination":"/tmp","type":"bind","source":"/sandbox/tmp","options":["rbind"]},)"
      R"({"destination":"/work \"x\"\u000a","type":"bind","source":"/sandbox/work \"x\"\u000a",)"
      R"("options":["rbind"]}],)"
      R"("linux":{"namespaces":[{"type":"pid"},{"type":"ipc"},{"type":"uts"},{"type":"mount"}]}})");
}

}  // namespace
}  // namespace cordon::launcher
