// SPDX-License-Identifier: Apache-2.0
// Both faces of a report, from a host that was made up.
#include "cli/doctor_report.h"

#include <algorithm>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace cordon::cli {
namespace {

DoctorReport ubuntu_desktop() {
  DoctorReport report;
  report.host.kernel = "6.8.0-49";
  report.host.machine = "x86_64";
  report.host.system = "Ubuntu 24.04";
  report.host.landlock_abi = 4;
  report.host.cgroup_layout = CgroupLayout::v2;
  report.host.controllers = {"memory", "pids", "cpu"};
  for (Fact& fact : report.host.facts) fact = {Support::ok, {}, {}};
  const std::string remedy = "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  report.host[Feature::user_namespaces] = {
      Support::blocked, "AppArmor (kernel.apparmor_restrict_unprivileged_userns=1)", remedy};
  report.host[Feature::namespaces] = {Support::blocked, "needs user namespaces", remedy};
  report.host[Feature::id_ranges] = {Support::blocked, "no range", "sudo usermod ann"};
  report.host[Feature::landlock] = {Support::ok, "ABI 4 (files, tcp ports)", {}};
  report.host[Feature::kvm] = {Support::not_probed, "not probed by this version", {}};
  report.host[Feature::overlay] = {
      Support::absent,
      "a\x1b[31m and\nno more than fits into the width of the table; what does not goes on below",
      {}};
  report.host.capacity = {.by_fds = 6581, .by_pids = 100, .by_ids = std::nullopt};
  report.reached = level_of(report.host);
  report.probe_time = std::chrono::milliseconds{12};
  return report;
}

TEST(DoctorText, ShowsEachFactTheLevelAndTheCommandsThatChangeIt) {
  const std::string text = doctor_text(ubuntu_desktop());
  const std::string expected =
      "cordon " CORDON_VERSION
      "  linux 6.8.0-49 x86_64  Ubuntu 24.04  as an ordinary user\n"
      "\n"
      "  user namespaces   BLOCKED     AppArmor (kernel.apparmor_restrict_unprivileged_userns=1)\n"
      "  id ranges         BLOCKED     no range\n"
      "                                -> sudo usermod ann\n"
      "  namespaces        BLOCKED     needs user namespaces\n"
      "  mount api         ok\n"
      "  idmapped mounts   ok\n"
      "  overlay           ABSENT      a\\x1b[31m and\\x0ano more than fits into the width of the "
      "table; "
      "what\n"
      "                                does not goes on below\n"
      "  disk images       ok\n"
      "  seccomp           ok\n"
      "  seccomp notify    ok\n"
      "  landlock          ok          ABI 4 (files, tcp ports)\n"
      "  cgroup            ok\n"
      "  cgroup kill       ok\n"
      "  pidfd             ok\n"
      "  openat2           ok\n"
      "  network filter    ok\n"
      "  ebpf              ok\n"
      "  kvm               not probed  not probed by this version\n"
      "  gvisor            ok\n"
      "  microvm           ok\n"
      "\n"
      "  level             none        missing for full: user namespaces, namespaces\n"
      "                                -> sudo sysctl -w "
      "kernel.apparmor_restrict_unprivileged_userns=0\n"
      "  capacity          100         sandboxes, by descriptors 6581, processes 100\n";
  EXPECT_EQ(text, expected);
}

TEST(DoctorJson, HasEveryKeyAndEveryFact) {
  const DoctorReport report = ubuntu_desktop();
  const boost::json::value json = boost::json::parse(doctor_json(report));
  EXPECT_EQ(json.at("version").as_string(), CORDON_VERSION);
  EXPECT_EQ(json.at("kernel").as_string(), "6.8.0-49");
  EXPECT_EQ(json.at("machine").as_string(), "x86_64");
  EXPECT_EQ(json.at("system").as_string(), "Ubuntu 24.04");
  EXPECT_FALSE(json.at("root").as_bool());
  EXPECT_EQ(json.at("level").as_string(), "none");
  EXPECT_EQ(json.at("missing"), (boost::json::array{"user_namespaces", "namespaces"}));
  EXPECT_EQ(json.at("landlock_abi").as_int64(), 4);
  EXPECT_EQ(json.at("cgroup").at("layout").as_string(), "v2");
  EXPECT_EQ(json.at("cgroup").at("controllers"), (boost::json::array{"memory", "pids", "cpu"}));
  EXPECT_EQ(json.at("capacity").at("sandboxes").as_int64(), 100);
  EXPECT_TRUE(json.at("capacity").at("by_ids").is_null());
  EXPECT_EQ(json.at("probe_ms").as_int64(), 12);
  EXPECT_EQ(json.at("facts").as_object().size(), kFeatureCount);
  for (const Feature feature : all_features()) {
    const boost::json::value& fact = json.at("facts").at(to_string(feature));
    EXPECT_EQ(fact.at("support").as_string(), to_string(report.host[feature].support));
    EXPECT_EQ(fact.at("detail").as_string(), report.host[feature].detail);
    EXPECT_EQ(fact.at("remedy").as_string(), report.host[feature].remedy);
  }
}

TEST(SandboxesOf, IsTheSmallestLimitThatWasFound) {
  EXPECT_EQ(sandboxes_of({.by_fds = 7, .by_pids = 9, .by_ids = 8}), 7U);
  EXPECT_EQ(sandboxes_of({.by_ids = 3}), 3U);
  EXPECT_EQ(sandboxes_of({}), std::nullopt);
}

}  // namespace
}  // namespace cordon::cli
