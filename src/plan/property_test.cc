// SPDX-License-Identifier: Apache-2.0
// Random policies: no plan shows or lets write what its policy refuses.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plan/lowering_test.h"
#include "plan/survey.h"
#include "policy/checked.h"
#include "policy/glob.h"
#include "policy/random_policy_test.h"

namespace cordon::plan {
namespace {

using policy::Access;
using policy::below;
using policy::random::Dice;

// What there is on the host, below the directory that is bound as workspace and below the mounts.
constexpr std::string_view kExisting[] = {"src/a",     "src/b",       ".env",
                                          "src/x/b/y", ".git/config", "a.key"};

// As a caller's walk would report it.
Survey survey_of(const policy::Policy& policy, const Situation& situation,
                 std::string_view workspace) {
  Survey survey;
  for (const SurveyTree& tree : trees_to_survey(policy, situation)) {
    for (const std::string_view name : kExisting) {
      // The directories on the way exist too.
      for (std::size_t end = 0; end != std::string_view::npos;) {
        end = name.find('/', end + 1);
        const std::string path = fmt::format("{}/{}", tree.target, name.substr(0, end));
        const Cover cover = cover_of(policy, path, workspace);
        if (cover == Cover::none) continue;
        survey.found.push_back(
            {path, end == std::string_view::npos ? PathKind::file : PathKind::directory});
        if (cover == Cover::hide) break;
      }
    }
  }
  return survey;
}

enum class Use : std::uint8_t { absent, read, write };

// What the mounts of a plan make of a path: the longest tree decides, and pins lie over it.
Use use_of(const frame::LaunchPlan& plan, std::string_view path) {
  std::string_view longest;
  Use use = plan.root == frame::RootSource::directory ? Use::read : Use::absent;
  const auto over = [&](std::string_view tree, Use by) {
    if (!below(path, tree) || tree.size() < longest.size()) return;
    longest = tree;
    use = by;
  };
  const auto by = [](bool writable) { return writable ? Use::write : Use::read; };
  for (const frame::Bind& bind : plan.binds) over(bind.target, by(bind.writable));
  for (const frame::OwnFile& file : plan.files) over(file.target, Use::read);
  for (const std::string& directory : plan.directories) over(directory, Use::write);
  over(plan.workspace.target, by(plan.workspace.writable));
  if (longest != plan.workspace.target) return use;
  for (const frame::Pin& pin : plan.workspace.pins) {
    if (!below(path, fmt::format("{}/{}", plan.workspace.target, pin.path))) continue;
    use = pin.kind == frame::PinKind::hide ? Use::absent : std::min(use, Use::read);
  }
  return use;
}

void expect_no_wider(const policy::Policy& policy, const frame::LaunchPlan& plan,
                     std::uint64_t seed) {
  const std::string& workspace = plan.workspace.target;
  const auto allows = [&](Access access, std::string_view path) {
    return policy.decide(policy::PathQuery{access, path, workspace}).allowed();
  };
  for (const frame::Bind& bind : plan.binds) {
    EXPECT_TRUE(allows(Access::read, bind.target)) << seed << ' ' << bind.target;
    EXPECT_TRUE(!bind.writable || allows(Access::write, bind.target)) << seed << ' ' << bind.target;
  }
  for (const std::string_view tree :
       {std::string_view{workspace}, std::string_view{"/docs"}, std::string_view{"/docs/a"}}) {
    for (const std::string_view name : kExisting) {
      const std::string path = fmt::format("{}/{}", tree, name);
      const bool mounted = std::ranges::any_of(plan.binds, [&](const frame::Bind& bind) {
        return below(path, bind.target).has_value();
      });
      // An ephemeral workspace is empty: nothing of these names exists there.
      if (plan.workspace.kind == frame::WorkspaceKind::own_disk && !mounted &&
          below(path, workspace)) {
        continue;
      }
      const Use use = use_of(plan, path);
      EXPECT_TRUE(use < Use::write || allows(Access::write, path)) << seed << " writes " << path;
      // A root directory's own tree is not searched, which the Enforcement says.
      EXPECT_TRUE(use < Use::read || allows(Access::read, path) ||
                  (!mounted && !below(path, workspace)))
          << seed << " reads " << path;
    }
  }
}

std::optional<policy::Policy> narrowed_at_random(Dice& dice, policy::Policy policy) {
  if (dice.percent(30)) policy = attenuate(policy, policy::random::random_policy(dice));
  if (!dice.percent(40)) return policy;
  auto narrower = policy::narrow(policy,
                                 policy::random::parsed(policy::random::random_document(
                                     dice, policy::random::Writer::workspace)),
                                 {});
  if (!narrower) return std::nullopt;
  return *std::move(narrower);
}

TEST(LoweredRandomPolicy, IsNeverWiderThanThePolicy) {
  std::size_t plans = 0;
  std::size_t writable_mounts = 0;
  std::size_t pinned = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    Dice dice{seed};
    std::string text = "[filesystem]\n";
    policy::random::add_filesystem(dice, policy::random::Writer::user, text);
    text = text.substr(text.find('\n') + 1);  // one heading is enough
    // An image is always refused: it would leave half of the seeds without a plan.
    if (const auto image = text.find("root = \"image:x\"\n"); image != std::string::npos)
      text.erase(image, std::string_view{"root = \"image:x\"\n"}.size());
    auto first = policy::check(policy::random::parsed(text), policy::Origin::user, {});
    if (!first) continue;
    const auto policy = dice.percent(70) ? std::optional{*std::move(first)}
                                         : narrowed_at_random(dice, *std::move(first));
    if (!policy) continue;
    const bool root = dice.percent(50);
    Situation situation = situation_of(root);
    situation.workspace_target = "/workspace";
    situation.drop_network = true;
    if (dice.percent(20)) situation.workspace_source.reset();
    situation.survey = survey_of(*policy, situation, workspace_inside(*policy, situation));
    const auto plan = lower(*policy, full_host(root), situation);
    if (!plan) continue;
    ++plans;
    pinned += plan->plan.workspace.pins.size();
    writable_mounts += static_cast<std::size_t>(
        std::ranges::count(plan->plan.binds, true, &frame::Bind::writable));
    expect_no_wider(*policy, plan->plan, seed);
  }
  EXPECT_GT(plans, 300U);
  EXPECT_GT(writable_mounts, 100U);
  EXPECT_GT(pinned, 200U);
  RecordProperty("plans", static_cast<int>(plans));
}

TEST(LoweredRandomPolicy, NamesEveryKeyThatNothingEnforces) {
  std::size_t named = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Dice dice{seed};
    const policy::Policy policy = policy::random::random_policy(dice);
    Situation situation = situation_of();
    situation.drop_network = true;
    const std::vector<Denial> refusals = refused(policy, full_host(false), situation);
    for (const policy::StatedKey& stated : policy.documents().front()->document().keys) {
      const std::string_view key = stated.key->path;
      if (stated.neutral || policy::is_enforced(*stated.key) || key.starts_with("network.") ||
          key == "resources.egress_limit") {
        continue;
      }
      ++named;
      EXPECT_NE(std::ranges::find(refusals, key, &Denial::tried), refusals.end()) << seed << key;
    }
  }
  EXPECT_GT(named, 100U);
}

}  // namespace
}  // namespace cordon::plan
