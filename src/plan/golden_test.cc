// SPDX-License-Identifier: Apache-2.0
// Plans of presets, examples and hosts against the files that hold them.
#include "base/golden_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plan/describe.h"
#include "plan/lowering_test.h"
#include "policy/presets.h"

namespace cordon::plan {
namespace {

void expect_plan(const std::string& name, const std::string& text) {
  expect_golden("tests/plan/golden/" + name + ".txt", text);
}

// The plan, or every refusal.
std::string outcome(const policy::Policy& policy, const HostFacts& host,
                    const Situation& situation) {
  std::vector<Denial> refusals;
  const auto result = lower(policy, host, situation, &refusals);
  if (result) return describe(*result);
  std::string text = fmt::format("refused: {}\n\n", result.error().text());
  for (const Denial& denial : refusals) {
    text += fmt::format("{}  {}  {}\n  why  {}\n  fix  {}\n", denial.code, denial.rule,
                        denial.tried, denial.why, denial.fix);
  }
  return text;
}

// As a caller with a repository: hooks and CI are there, one secret file, no other of the names.
Situation at_a_repository(bool root, std::string_view workspace = "/srv/shop") {
  Situation situation = situation_of(root);
  situation.monitor = MonitorSource::witness;
  const auto add = [&](std::string_view name, PathKind kind) {
    situation.survey.found.push_back({fmt::format("{}/{}", workspace, name), kind});
  };
  add(".env", PathKind::file);
  add(".git/config", PathKind::file);
  add(".git/hooks", PathKind::directory);
  add(".github/workflows", PathKind::directory);
  add("deploy/keys/tls.pem", PathKind::file);
  return situation;
}

policy::Policy preset_policy(const policy::Preset& preset) {
  auto document =
      policy::parse(preset.text, "preset:" + std::string{preset.name}, policy::Syntax::toml);
  EXPECT_TRUE(document);
  auto policy = policy::check(*std::move(document), policy::Origin::builtin, {});
  EXPECT_TRUE(policy);
  return *std::move(policy);
}

TEST(LoweredPreset, IsAsReviewedForAnOrdinaryUserAndForRoot) {
  for (const policy::Preset& preset : policy::all_presets()) {
    const policy::Policy policy = preset_policy(preset);
    for (const bool root : {false, true}) {
      expect_plan(fmt::format("preset-{}-{}", preset.name, root ? "root" : "user"),
                  outcome(policy, full_host(root), at_a_repository(root)));
    }
  }
}

TEST(LoweredPreset, WithoutItsNetworkIsAsReviewed) {
  for (const std::string_view name : {"node", "coding-agent"}) {
    Situation situation = at_a_repository(false);
    situation.drop_network = true;
    expect_plan(fmt::format("preset-{}-no-network", name),
                outcome(preset_policy(*policy::find_preset(name)), full_host(false), situation));
  }
}

TEST(LoweredExample, IsAsReviewed) {
  for (const std::string name :
       {"service.json", "everything.toml", "agent.toml", "files-server.toml"}) {
    const std::string text = read_source("examples/" + name);
    auto document = policy::parse(text, name, policy::syntax_of(name, text));
    ASSERT_TRUE(document) << document.error().text();
    const auto origin = name == "service.json" ? policy::Origin::request : policy::Origin::user;
    const auto policy = policy::check(*std::move(document), origin, {});
    ASSERT_TRUE(policy) << policy.error().text();
    expect_plan("example-" + name, outcome(*policy, full_host(false), at_a_repository(false)));
  }
}

// One document that uses all that this version holds.
constexpr std::string_view kWhole = R"(
version = 1
isolation = "process"
require = ["seccomp", "cgroup", "landlock:3"]
[filesystem]
root = "dir:/srv/debian"
workspace = "/workspace"
host_mounts = [{ source = "~/docs", target = "/docs" },
               { source = "/srv/cache", target = "/workspace/cache", mode = "read_write" }]
hide = ["**/.env", "secret"]
protect = [".git/hooks"]
review = true
[environment]
pass = ["LANG", "PATH"]
set = { CI = "1" }
[process]
user = "root"
capabilities = ["setuid", "chown"]
[network]
mode = "none"
[resources]
cpu_limit = "1.5"
memory_limit = "1Gi"
pids_limit = 64
disk_limit = "2Gi"
inodes_limit = 5000
open_files = 512
io_limit = "10Mi"
timeout_seconds = 60
cpu_seconds = 30
output_limit = "1Mi"
[syscalls]
profile = "compat"
)";

TEST(LoweredPolicy, ThatUsesEverythingIsAsReviewed) {
  expect_plan("whole-root", outcome(policy::policy_from(kWhole), full_host(true),
                                    at_a_repository(true, "/workspace")));
}

TEST(LoweredPolicy, OnEachLesserHostIsAsReviewed) {
  constexpr std::string_view kPolicy = R"(
[filesystem]
review = true
[resources]
cpu_limit = "1"
memory_limit = "256Mi"
pids_limit = 32
cpu_seconds = 9
)";
  std::string text;
  for (const Feature feature : all_features()) {
    for (const bool root : {false, true}) {
      const auto result =
          lower(policy::policy_from(kPolicy), without(feature, root), situation_of(root));
      text += fmt::format("--- without {}, as {}\n", to_string(feature), root ? "root" : "user");
      text += result ? describe(result->enforcement) : result.error().text() + '\n';
    }
  }
  expect_plan("lesser-hosts", text);
}

}  // namespace
}  // namespace cordon::plan
