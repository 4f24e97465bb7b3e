// SPDX-License-Identifier: Apache-2.0
// C010, C197: what runs elsewhere is flagged, under every spelling, and ordinary files are not.
#include "review/flags.h"

#include <set>

#include <gtest/gtest.h>

namespace cordon::review {
namespace {

std::string code_of(const std::string& path, os::FileType type = os::FileType::regular) {
  const auto flags =
      flags_of({.path = path, .kind = ChangeKind::modified, .type = type, .mode = 0644}, {}, {});
  return flags.empty() ? "" : flags.front().code;
}

TEST(Flags, NameWhatRunsElsewhere) {
  const struct {
    const char* path;
    const char* code;
  } cases[] = {
      {".git/hooks/pre-commit", "git_hook"},
      {".git/config", "git_config"},
      {".GIT/Config", "git_config"},
      {".git/info/attributes", "git_config"},
      {"vendor/lib/.git/hooks/post-checkout", "git_hook"},
      {".git/modules/lib/config", "git_config"},
      {".gitmodules", "git_config"},
      {".github/workflows/x.yml", "ci"},
      {".gitlab-ci.yml", "ci"},
      {".circleci/config.yml", "ci"},
      {"Jenkinsfile", "ci"},
      {".vscode/tasks.json", "editor"},
      {"sub/.idea/workspace.xml", "editor"},
      {".devcontainer/devcontainer.json", "editor"},
      {".bashrc", "shell"},
      {"home/.zshrc", "shell"},
      {".envrc", "shell"},
      {"setup.py", "package"},
      {"pyproject.toml", "package"},
      {".npmrc", "package"},
      {"Makefile", "build"},
      {".mcp.json", "agent"},
      {".claude/settings.json", "agent"},
      {"docs/CLAUDE.md", "agent_text"},
      {"tool.desktop", "desktop"},
      {".pre-commit-config.yaml", "git_hook"},
  };
  for (const auto& one : cases) EXPECT_EQ(code_of(one.path), one.code) << one.path;
}

TEST(Flags, LeaveOrdinaryFilesAlone) {
  for (const char* const path :
       {"src/cart.ts", "hooks/useCart.ts", "config", "README.md", "github/workflows/x.yml",
        "xMakefile", "Makefile/readme", "profile", ".git-blame", "my.envrc.txt", "workflows/a.yml",
        ".github/ISSUE_TEMPLATE.md", ".git/objects/ab/cd"}) {
    EXPECT_EQ(code_of(path), "") << path;
  }
}

TEST(Flags, EveryRowOfTheTableMatchesAndSaysWhy) {
  std::set<std::string_view> patterns;
  for (const RunsElsewhere& row : runs_elsewhere()) {
    EXPECT_TRUE(patterns.insert(row.pattern).second) << row.pattern << " stands twice";
    EXPECT_FALSE(row.reason.empty());
    std::string example{row.pattern};
    if (const auto star = example.find('*'); star != std::string::npos) example[star] = 'x';
    if (example.ends_with('/')) example += "inside";
    EXPECT_TRUE(matches(row.pattern, example)) << row.pattern;
    EXPECT_TRUE(matches(row.pattern, "deep/er/" + example)) << row.pattern;
  }
}

TEST(Flags, AGitFileOrANewRepositoryIsToldAtItsRoot) {
  EXPECT_EQ(code_of(".git"), "git_config");
  EXPECT_EQ(code_of("sub/.git", os::FileType::symlink), "git_config");
  EXPECT_EQ(code_of("sub/.git", os::FileType::directory), "git_config");
}

TEST(Flags, NewExecutablesAndSetIdBits) {
  Change change{.path = "tool", .kind = ChangeKind::added, .mode = 04755};
  auto flags = flags_of(change, {}, {});
  ASSERT_EQ(flags.size(), 2U);
  EXPECT_EQ(flags.at(0).code, "set_id");
  EXPECT_EQ(flags.at(1).reason, "new executable");
  change.mode = 0755;
  change.lower = os::FileStatus{.mode = 0644};
  EXPECT_EQ(flags_of(change, {}, {}).at(0).reason, "becomes executable");
  change.lower->mode = 0755;
  EXPECT_TRUE(flags_of(change, {}, {}).empty());
}

TEST(Flags, LinksThatLeadOut) {
  EXPECT_TRUE(leads_out("a", "/etc/passwd"));
  EXPECT_TRUE(leads_out("a", "../x"));
  EXPECT_TRUE(leads_out("d/a", "../../x"));
  EXPECT_TRUE(leads_out("d/a", "y/../../x")) << "y may be another link";
  EXPECT_TRUE(leads_out("d/a", "./..//../x"));
  EXPECT_FALSE(leads_out("d/a", "../x"));
  EXPECT_FALSE(leads_out("a", "x/y"));
  EXPECT_FALSE(leads_out("a", "..x"));
}

TEST(Flags, PackageJsonIsJudgedByItsContents) {
  const std::string before = R"({"name":"a","scripts":{"test":"x"},"dependencies":{"b":"1"}})";
  EXPECT_TRUE(
      package_flags(before, R"({"dependencies":{"b":"1"},"scripts":{"test":"x"},"name":"c"})")
          .empty());
  const auto added =
      package_flags(before, R"({"scripts":{"test":"x"},"dependencies":{"b":"1","left-pad":"1"}})");
  ASSERT_EQ(added.size(), 1U);
  EXPECT_EQ(added.front().reason, "adds or moves dependencies: left-pad");
  const auto scripts =
      package_flags(before, R"({"scripts":{"postinstall\u001b":"x"},"dependencies":{"b":"1"}})");
  ASSERT_EQ(scripts.size(), 1U);
  EXPECT_EQ(scripts.front().reason, "changes scripts that package managers run: postinstall\\x1b");
  EXPECT_EQ(package_flags(before, "not json").front().code, "package");
  EXPECT_EQ(package_flags(before, "not json").size(), 1U);
}

}  // namespace
}  // namespace cordon::review
