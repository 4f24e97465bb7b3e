// SPDX-License-Identifier: Apache-2.0
#include "monitor/foresee.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "os/file.h"

namespace cordon::monitor {
namespace {

namespace fs = std::filesystem;

// A tree of which one part is granted to be written, and one to be executed from.
class Foresight : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(base_ / "open");
    fs::create_directories(base_ / "shut");
    for (const char* name : {"open/file", "shut/file"}) std::ofstream{base_ / name} << "x";
    fs::create_symlink(base_ / "shut", base_ / "open/link");
    fs::permissions(base_ / "open/file", fs::perms::owner_all);
    fs::permissions(base_ / "shut/file", fs::perms::owner_all);
    root_ = *os::openat(os::at_cwd(), "/", O_PATH | O_DIRECTORY);
  }
  void TearDown() override { fs::remove_all(base_); }

  // Its result, and the path that it is about.
  std::pair<int, std::string> outcome(Intent intent) {
    const std::vector<frame::PathRule> rules{{(base_ / "open").string(), frame::PathUse::all},
                                             {(base_ / "shut").string(), frame::PathUse::read}};
    const auto seen =
        foresee(intent, {.root = root_, .rules = rules, .has_landlock = true, .mounts = mounts_});
    if (!seen) return {-1, ""};
    const auto* const file = std::get_if<SeenFile>(&seen->what);
    std::string path = file != nullptr ? file->resolved : "";
    if (path.starts_with(base_.string())) path = path.substr(base_.string().size() + 1);
    return {static_cast<int>(-seen->result), path};
  }
  Intent opening(const std::string& path, int flags) const {
    return {.of = CallKind::Of::open,
            .call = SYS_openat,
            .path = {.used = path, .base = base_.string()},
            .flags = static_cast<std::uint32_t>(flags)};
  }
  Intent calling(long call, const std::string& path) const {
    return {.of = CallKind::Of::path,
            .call = static_cast<std::uint32_t>(call),
            .path = {.used = path, .base = base_.string()}};
  }
  Intent executing(const std::string& path) const {
    return {.of = CallKind::Of::exec,
            .call = SYS_execve,
            .path = {.used = path, .base = base_.string()}};
  }

  fs::path base_ = fs::canonical(fs::temp_directory_path()) /
                   ("foresee" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
                    std::to_string(::getpid()));
  os::Fd root_;
  os::KnownMounts mounts_;
};

using Outcome = std::pair<int, std::string>;

TEST_F(Foresight, OfAnOpenTheFenceOrTheErrorThatComesBeforeIt) {
  EXPECT_EQ(outcome(opening("open/file", O_WRONLY)), Outcome(0, "open/file"));
  EXPECT_EQ(outcome(opening("shut/file", O_WRONLY)), Outcome(EACCES, "shut/file"));
  EXPECT_EQ(outcome(opening("shut/new", O_WRONLY | O_CREAT)), Outcome(EACCES, "shut/new"));
  EXPECT_EQ(outcome(opening("shut/new", O_WRONLY)), Outcome(ENOENT, "shut/new"));
  EXPECT_EQ(outcome(opening("shut", O_WRONLY)), Outcome(EISDIR, "shut"));
  EXPECT_EQ(outcome(opening("shut/file", O_WRONLY | O_CREAT | O_EXCL)),
            Outcome(EEXIST, "shut/file"));
  EXPECT_EQ(outcome(opening("open/link/new", O_WRONLY | O_CREAT)), Outcome(EACCES, "shut/new"))
      << "where it leads is what counts";
  EXPECT_EQ(outcome(opening("none/new", O_WRONLY | O_CREAT)), Outcome(-1, ""));
  EXPECT_EQ(outcome(opening("/dev/null", O_WRONLY)), Outcome(0, "/dev/null"));
  EXPECT_EQ(outcome(opening("/proc/self/exe", O_WRONLY)), Outcome(-1, "")) << "a link of ours";
}

TEST_F(Foresight, OfNamesThatAreMadeRemovedAndMoved) {
  EXPECT_EQ(outcome(calling(SYS_mkdirat, "shut/d")), Outcome(EACCES, "shut/d"));
  EXPECT_EQ(outcome(calling(SYS_mkdirat, "shut")), Outcome(EEXIST, "shut"));
  EXPECT_EQ(outcome(calling(SYS_unlinkat, "shut/file")), Outcome(EACCES, "shut/file"));
  EXPECT_EQ(outcome(calling(SYS_unlinkat, "shut/none")), Outcome(ENOENT, "shut/none"));
  EXPECT_EQ(outcome(calling(SYS_unlinkat, "open/gone")), Outcome(0, "open/gone"))
      << "it may have been removed by this very call";
  EXPECT_EQ(outcome(calling(SYS_unlinkat, "open/link")), Outcome(0, "open/link"))
      << "the link, not where it leads";
  Intent moving = calling(SYS_renameat2, "open/file");
  moving.second = IntendedPath{.used = "shut/x", .base = base_.string()};
  EXPECT_EQ(outcome(moving).first, EACCES);
  moving.second = IntendedPath{.used = "open/x", .base = base_.string()};
  EXPECT_EQ(outcome(moving).first, 0);
  moving.second = IntendedPath{.used = "/proc/x", .base = ""};
  EXPECT_EQ(outcome(moving).first, EXDEV) << "another mount";
}

TEST_F(Foresight, OfPrograms) {
  EXPECT_EQ(outcome(executing("open/file")), Outcome(0, ""));
  EXPECT_EQ(outcome(executing("shut/file")), Outcome(EACCES, "shut/file"));
  EXPECT_EQ(outcome(executing("shut/none")), Outcome(ENOENT, "shut/none"));
  fs::permissions(base_ / "shut/file", fs::perms::owner_read);
  EXPECT_EQ(outcome(executing("shut/file")), Outcome(ENOEXEC, "shut/file"));
}

}  // namespace
}  // namespace cordon::monitor
