// SPDX-License-Identifier: Apache-2.0
// Paths: hide, then protect, then the longest of mounts, workspace, own trees and root.
#include <gtest/gtest.h>

#include "policy/policy_text_test.h"

namespace cordon::policy {
namespace {

using enum Access;
using enum Reason;
constexpr Effect kYes = Effect::allow;
constexpr Effect kNo = Effect::deny;

struct PathRow {
  Access access;
  std::string_view path;
  Effect effect;
  Reason reason;
  std::string_view workspace = "/workspace";
};

void expect_paths(const Policy& policy, std::initializer_list<PathRow> rows) {
  for (const PathRow& row : rows) {
    const Decision found = policy.decide(PathQuery{row.access, row.path, row.workspace});
    EXPECT_EQ(found.effect, row.effect) << to_string(row.access) << " " << row.path;
    EXPECT_EQ(found.reason, row.reason) << to_string(row.access) << " " << row.path;
  }
}

TEST(PathDecision, GivesAnEmptyDocumentAWorkspaceAndTheSystem) {
  expect_paths(policy_from(""), {
                                    {read, "/workspace", kYes, workspace_path},
                                    {write, "/workspace/a", kYes, workspace_path},
                                    {exec, "/workspace/a", kYes, workspace_path},
                                    {read, "/workspaces/a", kNo, absent_path},
                                    {read, "/", kYes, system_path},
                                    {write, "/", kNo, root_is_read_only},
                                    {exec, "/usr/bin/env", kYes, system_path},
                                    {read, "/etc/passwd", kYes, system_path},
                                    {write, "/etc/passwd", kNo, root_is_read_only},
                                    {read, "/etc", kYes, system_path},
                                    {read, "/etc/ssl/certs/a.pem", kYes, system_path},
                                    {read, "/etc/ssl/private/a.key", kNo, absent_path},
                                    {read, "/etc/shadow", kNo, absent_path},
                                    {read, "/etc/ssh/ssh_host_ed25519_key", kNo, absent_path},
                                    {read, "/etc/sudoers", kNo, absent_path},
                                    {read, "/etc/machine-id", kNo, absent_path},
                                    {read, "/home/u/.ssh/id_rsa", kNo, absent_path},
                                    {read, "/root", kNo, absent_path},
                                    {read, "/var/log/x", kNo, absent_path},
                                    {read, "/run/docker.sock", kNo, absent_path},
                                    {read, "/library", kNo, absent_path},
                                    {write, "/tmp/a", kYes, own_path},
                                    {write, "/var/tmp/a", kYes, own_path},
                                    {write, "/dev/null", kYes, own_path},
                                    {read, "/dev/sda", kYes, own_path},
                                    {write, "/dev/sda", kNo, own_read_only},
                                    {read, "/proc/self/status", kYes, own_path},
                                    {write, "/proc/sys/x", kNo, own_read_only},
                                    {read, "/sys/kernel", kNo, own_absent},
                                    {read, "/bound/x", kYes, workspace_path, "/bound"},
                                    {read, "/workspace/x", kNo, absent_path, "/bound"},
                                });
}

TEST(PathDecision, RefusesEveryOtherSpelling) {
  for (const std::string_view path : {"", "workspace/a", "/workspace/", "/workspace//a",
                                      "/workspace/./a", "/workspace/../etc/shadow", "//etc"}) {
    expect_paths(policy_from(""), {{read, path, kNo, bad_path}});
  }
  expect_paths(policy_from(""), {{read, "/workspace/a", kNo, bad_path, "workspace"},
                                 {read, "/workspace/a", kNo, bad_path, "/workspace/"}});
}

TEST(PathDecision, HidesBeforeItProtectsBeforeItGrants) {
  const Policy policy = policy_from(R"([filesystem]
host_mounts = [{ source = "/opt", target = "/docs", mode = "read_write" }]
hide = ["**/.env", "secret", "/etc/hosts", "build/*.key"]
protect = [".git/hooks", "/docs/fixed", "**/lock"]
)");
  expect_paths(policy, {
                           {read, "/workspace/.env", kNo, hidden},
                           {write, "/workspace/.env", kNo, hidden},
                           {read, "/workspace/a/b/.env/c", kNo, hidden},
                           {read, "/docs/.env", kNo, hidden},
                           {read, "/.env", kNo, hidden},
                           {read, "/workspace/secret/x", kNo, hidden},
                           {read, "/workspace/a/secret", kYes, workspace_path},
                           {read, "/docs/secret", kYes, mounted},
                           {read, "/etc/hosts", kNo, hidden},
                           {exec, "/workspace/build/a.key", kNo, hidden},
                           {exec, "/workspace/build/a.keys", kYes, workspace_path},
                           {read, "/workspace/.git/hooks/x", kYes, workspace_path},
                           {write, "/workspace/.git/hooks/x", kNo, protected_},
                           {write, "/workspace/.git/hooks", kNo, protected_},
                           {write, "/workspace/.git", kYes, workspace_path},
                           {exec, "/workspace/.git/hooks/x", kYes, workspace_path},
                           {write, "/docs/fixed/x", kNo, protected_},
                           {write, "/docs/x", kYes, mounted},
                           {write, "/tmp/lock", kNo, protected_},
                       });
  EXPECT_EQ(policy.decide(PathQuery{read, "/etc/hosts"}).place.mark.line, 3U);
}

TEST(PathDecision, GoesByTheLongestTree) {
  const Policy policy = policy_from(R"([filesystem]
workspace = "/w"
mode = "read_only"
host_mounts = [
  { source = "/a", target = "/w/out", mode = "read_write" },
  { source = "/b", target = "/w/out/fixed" },
  { source = "/c", target = "/tmp/in" },
  { source = "/d", target = "/home/u" },
]
)");
  expect_paths(policy, {
                           {write, "/w/x", kNo, workspace_is_read_only},
                           {read, "/w/x", kYes, workspace_path},
                           {write, "/w/out/x", kYes, mounted},
                           {write, "/w/out/fixed/x", kNo, mount_is_read_only},
                           {exec, "/w/out/fixed/x", kYes, mounted},
                           {write, "/tmp/in/x", kNo, mount_is_read_only},
                           {write, "/tmp/x", kYes, own_path},
                           {read, "/home/u/x", kYes, mounted},
                           {read, "/home/v", kNo, absent_path},
                           // The document's own word for the workspace beats the caller's.
                           {read, "/workspace/x", kNo, absent_path},
                       });
}

TEST(PathDecision, ShowsAllOfAnImageOrDirectoryButNeverWrites) {
  for (const std::string_view root : {"image:debian-12", "dir:/srv/root"}) {
    const Policy policy = policy_from("[filesystem]\nroot = \"" + std::string{root} + "\"\n");
    expect_paths(policy, {{read, "/home/u", kYes, system_path},
                          {read, "/var/lib/x", kYes, system_path},
                          {write, "/home/u", kNo, root_is_read_only},
                          {read, "/sys/x", kNo, own_absent},
                          {write, "/proc/x", kNo, own_read_only}});
  }
  expect_paths(policy_from("[filesystem]\nroot = \"host\"\n"),
               {{read, "/home/u", kNo, absent_path}, {read, "/opt/x", kYes, system_path}});
}

TEST(PathDecision, RefusesWhenThereAreMorePatternsThanItCanFollow) {
  std::string hide = "[filesystem]\nhide = [";
  for (unsigned i = 0; i < 512; ++i) {
    hide += '"';
    for (unsigned bit = 0; bit < 9; ++bit) hide += (i >> bit & 1U) != 0 ? '?' : 'a';
    hide += "/end\", ";
  }
  const Policy policy = policy_from(hide + "]\n");
  expect_paths(policy, {{read, "/workspace/aaaaaaaaa/other", kNo, too_many_patterns},
                        {read, "/workspace/b/other", kYes, workspace_path}});
}

TEST(PathDecision, IsNarrowedByAWorkspaceFileWhereItSpeaks) {
  const Policy policy = policy_from("[filesystem]\nhide = [\"a\"]\n");
  expect_paths(narrowed(policy, "[filesystem]\nhide = [\"b\"]\nprotect = [\"c\"]\n"),
               {{read, "/workspace/a", kNo, hidden},
                {read, "/workspace/b", kNo, hidden},
                {write, "/workspace/c", kNo, protected_},
                {write, "/workspace/d", kYes, workspace_path},
                {write, "/usr/x", kNo, root_is_read_only},
                {read, "/home/x", kNo, absent_path}});
  expect_paths(narrowed(policy, "[filesystem]\nmode = \"read_only\"\n"),
               {{write, "/workspace/d", kNo, workspace_is_read_only},
                {read, "/workspace/d", kYes, workspace_path},
                {write, "/tmp/x", kYes, own_path}});
  // It cannot give back what the policy took.
  expect_paths(narrowed(policy_from("[filesystem]\nmode = \"read_only\"\n"),
                        "[filesystem]\nmode = \"read_write\"\nhide = []\n"),
               {{write, "/workspace/d", kNo, workspace_is_read_only}});
}

}  // namespace
}  // namespace cordon::policy
