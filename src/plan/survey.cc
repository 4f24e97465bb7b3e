// SPDX-License-Identifier: Apache-2.0
#include "plan/survey.h"

#include <algorithm>

#include "plan/mounts.h"
#include "plan/patterns.h"
#include "plan/request.h"
#include "policy/glob.h"

namespace cordon::plan {
namespace {

SurveyTree tree_for(std::string source, std::string target, const std::vector<Pattern>& patterns) {
  SurveyTree tree{std::move(source), std::move(target), {}, false};
  for (const Pattern& pattern : patterns) {
    if (!can_match_in(pattern, tree.target)) continue;
    if (!pattern.literal) {
      tree.walk = true;
    } else if (policy::below(pattern.place, tree.target) && pattern.place != tree.target) {
      tree.names.push_back(relative_to(pattern.place, tree.target));
    }
  }
  std::ranges::sort(tree.names);
  tree.names.erase(std::ranges::unique(tree.names).begin(), tree.names.end());
  return tree;
}

}  // namespace

Cover cover_of(const policy::Policy& policy, std::string_view path, std::string_view workspace) {
  Cover cover = Cover::none;
  for (const auto& checked : policy.documents()) {
    // A write is judged by `hide`, then by `protect`, then by what is granted.
    switch (checked->decide(policy::PathQuery{policy::Access::write, path, workspace}).reason) {
      case policy::Reason::hidden:
      case policy::Reason::too_many_patterns:
        return Cover::hide;
      case policy::Reason::protected_:
        cover = Cover::protect;
        break;
      default:
        break;
    }
  }
  return cover;
}

std::string workspace_inside(const policy::Policy& policy, const Situation& situation) {
  Refusals ignored;  // lower() finds them again
  return workspace_of(policy, situation, ignored);
}

std::vector<SurveyTree> trees_to_survey(const policy::Policy& policy, const Situation& situation) {
  const std::string workspace = workspace_inside(policy, situation);
  const std::vector<Pattern> patterns = patterns_of(policy, workspace);
  std::vector<SurveyTree> trees;
  if (situation.workspace_source)
    trees.push_back(tree_for(*situation.workspace_source, workspace, patterns));
  Refusals ignored;
  for (const frame::Bind& mount : granted_mounts(policy, situation, workspace, ignored))
    trees.push_back(tree_for(mount.source, mount.target, patterns));
  std::erase_if(trees, [](const SurveyTree& tree) { return tree.names.empty() && !tree.walk; });
  return trees;
}

std::vector<std::string> paths_with_io_limit(const policy::Policy& policy,
                                             const Situation& situation) {
  const policy::Settings settings = policy.settings();
  std::vector<std::string> paths;
  if (!settings.limits.io) return paths;
  if (situation.workspace_source) {
    paths.push_back(*situation.workspace_source);
    if (settings.review) paths.push_back(situation.state_directory);
  }
  Refusals ignored;
  const std::string workspace = workspace_inside(policy, situation);
  for (const frame::Bind& mount : granted_mounts(policy, situation, workspace, ignored))
    paths.push_back(mount.source);
  return paths;
}

std::string workspace_to_count(const policy::Policy& policy, const Situation& situation) {
  const policy::Settings settings = policy.settings();
  const bool live = situation.workspace_source && !settings.review;
  return live && settings.limits.disk ? *situation.workspace_source : std::string{};
}

}  // namespace cordon::plan
