// SPDX-License-Identifier: Apache-2.0
// The real doctor on kernels that seem to lack something: exactly that must be reported.
#include <algorithm>
#include <ostream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "doctor_run.h"

namespace cordon::doctor_test {
namespace {

struct Masking {
  const char* name;
  std::vector<std::string> masks;
  std::map<std::string, std::string> changed;  // feature: its support under the mask
  const char* level;                           // the best that it leaves
  int landlock_abi = 0;                        // 0: as without the mask
};

void PrintTo(const Masking& row, std::ostream* out) { *out << row.name; }

const std::vector<Masking>& maskings() {
  static const std::vector<Masking> all = {
      {"NothingMasked", {}, {}, "full"},
      {"NoUserNamespaces",
       {"--no-userns"},
       {{"user_namespaces", "blocked"},
        {"id_ranges", "blocked"},
        {"namespaces", "blocked"},
        {"mount_api", "blocked"},
        {"idmapped_mounts", "blocked"},
        {"overlay", "blocked"},
        {"network_filter", "blocked"}},
       "none"},
      {"NoNetworkNamespaces",
       {"--no-netns"},
       {{"namespaces", "blocked"}, {"network_filter", "blocked"}},
       "none"},
      {"NoNftables", {"--no-nftables"}, {{"network_filter", "absent"}}, "full"},
      {"NoLandlock", {"--no-landlock"}, {{"landlock", "absent"}}, "supervised", -1},
      {"LandlockOfAbi1", {"--landlock-abi", "1"}, {{"landlock", "limited"}}, "supervised", 1},
      {"LandlockOfAbi2", {"--landlock-abi", "2"}, {{"landlock", "limited"}}, "supervised", 2},
      {"LandlockOfAbi4", {"--landlock-abi", "4"}, {}, "full", 4},
      {"NoSeccomp",
       {"--no-seccomp"},
       {{"seccomp", "absent"}, {"seccomp_notify", "absent"}},
       "none"},
      {"NoSeccompNotify", {"--no-seccomp-notify"}, {{"seccomp_notify", "absent"}}, "full"},
      {"NoOverlay", {"--no-overlay"}, {{"overlay", "absent"}}, "full"},
      {"NoMountApi",
       {"--no-mount-api"},
       {{"mount_api", "absent"},
        {"idmapped_mounts", "absent"},
        {"overlay", "absent"},
        {"disk_images", "absent"}},
       "none"},
      {"NoIdmap", {"--no-idmap"}, {{"idmapped_mounts", "absent"}}, "full"},
      {"NoPidfd", {"--no-pidfd"}, {{"pidfd", "absent"}, {"ebpf", "not_probed"}}, "none"},
      {"NoOpenat2", {"--no-openat2"}, {{"openat2", "absent"}}, "none"},
      {"AHangingProbe", {"--hang-openat2"}, {{"openat2", "blocked"}}, "none"},
  };
  return all;
}

int rank(const std::string& level) { return level == "full" ? 2 : level == "supervised" ? 1 : 0; }

// One control run for each kind of caller: every row is compared with it.
const Report& control(As as) {
  static std::map<As, Report> runs;
  const auto found = runs.find(as);
  return found != runs.end() ? found->second : runs.emplace(as, examine(as, {})).first->second;
}

void expect_exactly(const Masking& row, As as) {
  const Report& before = control(as);
  const Report after = examine(as, row.masks);
  for (const Feature feature : all_features()) {
    const std::string name{to_string(feature)};
    const auto changed = row.changed.find(name);
    if (feature == Feature::microvm) {
      // A whole sandbox, tried: what it lacks follows from the others, and a mask never mends it.
      const std::string& now = after.support.at(name);
      EXPECT_TRUE(now == before.support.at(name) || now == "blocked") << after.detail.at(name);
    } else if (changed == row.changed.end()) {
      EXPECT_EQ(after.support.at(name), before.support.at(name)) << name << after.detail.at(name);
    } else if (before.support.at(name) == "ok") {
      EXPECT_EQ(after.support.at(name), changed->second) << name << after.detail.at(name);
      EXPECT_NE(after.detail.at(name), "") << name;
    } else {
      EXPECT_NE(after.support.at(name), "ok") << name;
    }
  }
  EXPECT_EQ(rank(after.level), std::min(rank(row.level), rank(before.level))) << after.level;
  EXPECT_EQ(after.landlock_abi,
            row.landlock_abi == 0 ? before.landlock_abi : std::max(row.landlock_abi, 0));
}

class MaskedDoctor : public ::testing::TestWithParam<Masking> {};

TEST_P(MaskedDoctor, ReportsExactlyThat) { expect_exactly(GetParam(), As::caller); }

class RootMaskedDoctor : public ::testing::TestWithParam<Masking> {};

TEST_P(RootMaskedDoctor, ReportsExactlyThatToRoot) {
  ASSERT_EQ(::geteuid(), 0U);
  expect_exactly(GetParam(), As::root);
}

TEST_P(RootMaskedDoctor, ReportsExactlyThatToNobody) { expect_exactly(GetParam(), As::nobody); }

std::string name_of(const ::testing::TestParamInfo<Masking>& row) { return row.param.name; }

INSTANTIATE_TEST_SUITE_P(Kernel, MaskedDoctor, ::testing::ValuesIn(maskings()), name_of);
INSTANTIATE_TEST_SUITE_P(Kernel, RootMaskedDoctor, ::testing::ValuesIn(maskings()), name_of);

TEST(RootDoctor, FindsEverythingThatItProbesOnThisKernelAsRoot) {
  const Report report = control(As::root);
  for (const auto& [name, support] : report.support) {
    // The mask traces what it starts, as gVisor would, and a machine may be had without KVM: those
    // are found by tests/tiers.
    if (name == "gvisor" || name == "microvm") continue;
    const bool probed = name != "kvm";
    EXPECT_EQ(support, probed ? "ok" : "not_probed") << name << ": " << report.detail.at(name);
  }
  EXPECT_EQ(report.level, "full");
}

TEST(RootDoctor, ReportsCgroupsThatCannotBeWritten) {
  const Report before = control(As::root);
  const Report after = examine(As::root, {"--no-cgroup-write"});
  for (const auto& [name, support] : before.support) {
    const bool masked = name == "cgroup" || name == "cgroup_kill";
    EXPECT_EQ(after.support.at(name), masked ? "blocked" : support) << name;
  }
  EXPECT_EQ(after.level, "supervised");
  EXPECT_EQ(after.missing, std::vector<std::string>{"cgroup"});
}

TEST(RootDoctor, ReportsATreeOfVersion2ThatHandsNoControllerOn) {
  // This test's host has its controllers on version 1, so that version 2 alone has none.
  if (control(As::root).cgroup_layout == "v2") {
    GTEST_SKIP() << "the host has version 2 only";
  }
  const Report report = examine(As::root, {"--cgroup-v2-only"});
  EXPECT_EQ(report.cgroup_layout, "v2");
  EXPECT_EQ(report.support.at("cgroup"), "blocked");
  EXPECT_EQ(report.detail.at("cgroup"), "v2: not memory pids cpu: not delegated");
  EXPECT_EQ(report.support.at("cgroup_kill"), "ok");
  EXPECT_EQ(report.level, "supervised");
}

TEST(RootDoctor, NamesTheLimitOfUserNamespacesAndItsRemedy) {
  const Report report = examine(As::nobody, {"--userns-limit-0"});
  EXPECT_EQ(report.support.at("user_namespaces"), "blocked");
  EXPECT_EQ(report.detail.at("user_namespaces"), "the limit user.max_user_namespaces=0 is reached");
  EXPECT_NE(report.remedy.at("user_namespaces").find("user.max_user_namespaces="),
            std::string::npos);
  EXPECT_EQ(report.detail.at("namespaces"), "needs user namespaces");
  EXPECT_EQ(report.level, "none");
}

TEST(RootDoctor, MapsTheSubIdsOfAnOrdinaryUser) {
  if (::access("/usr/bin/newuidmap", X_OK) != 0 || ::access("/etc/subuid", F_OK) != 0) {
    GTEST_SKIP() << "no newuidmap here";
  }
  const Report report = examine(As::nobody, {"--sub-ids", "65534:200000:65536"});
  EXPECT_EQ(report.support.at("id_ranges"), "ok") << report.detail.at("id_ranges");
  EXPECT_EQ(report.detail.at("id_ranges"), "65536 ids through newuidmap");
}

TEST(Doctor, CountsSandboxesByTheLimitOfDescriptors) {
  const Report report = examine(As::caller, {"--fds", "306"});
  // 3 for each sandbox, 256 kept back.
  EXPECT_EQ(report.sandboxes_by_fds, 16);
}

TEST(Doctor, ClaimsNothingThatItDidNotProbe) {
  const Report report = control(As::caller);
  EXPECT_EQ(report.support.at("kvm"), "not_probed");
  EXPECT_EQ(report.detail.at("kvm"), "not probed by this version");
}

TEST(Doctor, TriesNoEngineWhereNoSandboxCanStand) {
  const Report report = examine(As::caller, {"--hang-openat2"});
  EXPECT_EQ(report.support.at("gvisor"), "blocked");
  EXPECT_EQ(report.detail.at("gvisor"), "no sandbox can be launched here");
  EXPECT_EQ(report.detail.at("microvm"), "no sandbox can be launched here");
}

TEST(Doctor, NamesAProbeThatHangs) {
  const Report report = examine(As::caller, {"--hang-openat2"});
  EXPECT_EQ(report.detail.at("openat2"), "did not answer within 2000 ms");
  EXPECT_LT(report.probe_ms, 4000);
}

}  // namespace
}  // namespace cordon::doctor_test
