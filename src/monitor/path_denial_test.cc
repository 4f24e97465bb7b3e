// SPDX-License-Identifier: Apache-2.0
#include "monitor/path_denial.h"

#include <cerrno>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "policy/policy_text_test.h"

namespace cordon::monitor {
namespace {

policy::Policy policy() {
  return policy::policy_from(
      "[filesystem]\nroot = \"image:debian-12\"\nprotect = [\".git/hooks/**\", \"Makefile\"]\nhide "
      "= "
      "[\".env\"]\n");
}

struct Tried {
  long call;
  int error;
  SeenFile file;
};

std::optional<Denial> judged(const Tried& tried) {
  static const policy::Policy kPolicy = policy();
  const Seen seen{.command = "tool",
                  .call = static_cast<std::uint32_t>(tried.call),
                  .result = -tried.error,
                  .what = tried.file};
  return path_denial(seen, tried.file, kPolicy, "/workspace");
}

TEST(PathDenial, IsWhatThePolicyRefuses) {
  const Denial outside =
      judged({SYS_openat, EROFS, {.used = "/etc/x", .flags = 01101}}).value_or(Denial{});
  EXPECT_EQ(outside.code, "CORDON-FS-WRITE");
  EXPECT_EQ(outside.tried, "write /etc/x");
  EXPECT_EQ(outside.resolved, "");
  EXPECT_EQ(outside.rule, "cordon.toml:2");
  const Denial kept =
      judged({SYS_openat,
              EROFS,
              {.used = "Makefile", .resolved = "/workspace/d/../Makefile", .flags = 1}})
          .value_or(Denial{});
  EXPECT_EQ(kept.tried, "write Makefile");
  EXPECT_EQ(kept.resolved, "/workspace/Makefile");
  EXPECT_EQ(kept.rule, "cordon.toml:3");
  EXPECT_NE(kept.why.find("protected"), std::string::npos);
  const Denial hidden =
      judged({SYS_openat, EACCES, {.used = "/workspace/.env"}}).value_or(Denial{});
  EXPECT_EQ(hidden.code, "CORDON-FS-READ");
  EXPECT_EQ(hidden.rule, "cordon.toml:4");
  EXPECT_TRUE(judged({SYS_unlink, EBUSY, {.used = "/workspace/Makefile"}}));
  EXPECT_TRUE(judged({SYS_mkdir, EROFS, {.used = "/usr/x"}}));
  EXPECT_TRUE(judged({SYS_symlink, EROFS, {.used = "/usr/link", .second = "anything"}}));
}

TEST(PathDenial, OfTwoPathsIsOfTheOneThatIsRefused) {
  const Denial to =
      judged({SYS_rename, EROFS, {.used = "a", .resolved = "/workspace/a", .second = "/usr/a"}})
          .value_or(Denial{});
  EXPECT_EQ(to.tried, "write /usr/a");
  const Denial beside =
      judged({SYS_rename, EBUSY, {.used = "a", .resolved = "/workspace/a", .second = "Makefile"}})
          .value_or(Denial{});
  EXPECT_EQ(beside.resolved, "/workspace/Makefile");
  EXPECT_TRUE(judged({SYS_link, EROFS, {.used = "/workspace/a", .second = "/usr/a"}}));
  EXPECT_FALSE(judged({SYS_link, EACCES, {.used = "/usr/a", .second = "/workspace/a"}}))
      << "what gets a second name is not written";
  EXPECT_FALSE(judged({SYS_symlink, EACCES, {.used = "/workspace/link", .second = "/etc/passwd"}}))
      << "what a link names is not touched";
}

TEST(PathDenial, IsNoneWhereTheErrorIsTheWorkloadsOwn) {
  EXPECT_FALSE(judged({SYS_openat, EACCES, {.used = "/workspace/mode-000", .flags = 1}}));
  EXPECT_FALSE(judged({SYS_openat, EACCES, {.used = "/etc/shadow"}}))
      << "it may be read, if its mode lets it";
  EXPECT_FALSE(judged({SYS_openat, ENOENT, {.used = "/etc/none", .flags = 1}}));
  EXPECT_FALSE(judged({SYS_mkdir, EEXIST, {.used = "/usr"}}));
  EXPECT_FALSE(judged({SYS_unlink, EPERM, {.used = "/tmp/of-another"}}));
  EXPECT_FALSE(judged({SYS_openat, EROFS, {.used = "relative", .flags = 1}}))
      << "nobody knows where it is";
  EXPECT_FALSE(judged({SYS_openat, EROFS, {.used = "a", .resolved = "…/d/a", .flags = 1}}))
      << "nor this";
  EXPECT_FALSE(judged({SYS_rename, EPERM, {.used = "/workspace/a", .second = "b"}}));
}

TEST(NormalPath, HasOneSpelling) {
  EXPECT_EQ(normal_path("/a//b/./c/../d/"), "/a/b/d");
  EXPECT_EQ(normal_path("/../.."), "/");
  EXPECT_EQ(normal_path("/"), "/");
  EXPECT_EQ(normal_path("a/b"), "");
  EXPECT_EQ(normal_path(""), "");
}

// A device may be written to, and its node belongs to a directory that may not.
TEST(PathDenial, ADevicesNodeIsItsDirectorys) {
  const SeenFile null{.used = "/dev/null"};
  EXPECT_EQ(judged({SYS_fchmodat, EROFS, null}).value_or(Denial{}).tried, "write /dev/null");
  EXPECT_TRUE(judged({SYS_unlink, EROFS, null}));
  EXPECT_FALSE(judged({SYS_openat, EACCES, {.used = "/dev/null", .flags = 01}}));
  EXPECT_FALSE(judged({SYS_unlink, EACCES, {.used = "/dev/shm/x"}})) << "that is its own";
}

}  // namespace
}  // namespace cordon::monitor
