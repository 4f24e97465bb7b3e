// SPDX-License-Identifier: Apache-2.0
// The walk against the kernel's own openat2, over one tree of every kind of entry.
#include "os/path_walk.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/file.h"

namespace cordon::os {
namespace {

namespace fs = std::filesystem;

class PathWalk : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cordon-walk-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
    root_path_ = base_ / "root";
    fs::create_directories(root_path_ / "a/b");
    std::ofstream{base_ / "outside"} << "o";
    std::ofstream{root_path_ / "file"} << "f";
    std::ofstream{root_path_ / "a/b/deep"} << "d";
    for (const auto& [link, to] :
         std::initializer_list<std::pair<const char*, const char*>>{{"to-file", "file"},
                                                                    {"to-dir", "a/b"},
                                                                    {"a/up", ".."},
                                                                    {"a/out", "../../outside"},
                                                                    {"absolute", "/etc/passwd"},
                                                                    {"loop", "loop"},
                                                                    {"dangling", "nothing"},
                                                                    {"chain", "to-dir/deep"},
                                                                    {"slash", "a/b/"}}) {
      fs::create_symlink(to, root_path_ / link);
    }
    auto opened = openat(at_cwd(), root_path_.c_str(), O_PATH | O_DIRECTORY);
    ASSERT_TRUE(opened);
    root_ = *std::move(opened);
  }
  void TearDown() override { fs::remove_all(base_); }

  static std::string told(const Result<Fd>& opened) {
    if (!opened) return ::strerrorname_np(opened.error().cause().value());
    struct stat facts{};
    EXPECT_EQ(::fstat(opened->get(), &facts), 0);
    return std::to_string(facts.st_ino) + "/" + std::to_string(facts.st_mode);
  }

  fs::path base_;
  fs::path root_path_;
  Fd root_;
};

TEST_F(PathWalk, FindsWhatTheKernelFinds) {
  const char* const paths[] = {
      "file",           "a",         "a/b",         "a/b/deep",      "a/b/",
      "./a/./b//deep",  "..",        "a/..",        "a/../..",       "a/../file",
      "to-file",        "to-dir",    "to-dir/deep", "a/up",          "a/up/file",
      "a/up/../x",      "a/out",     "absolute",    "loop",          "dangling",
      "chain",          "slash",     "slash/deep",  "file/x",        "file/",
      "nothing",        "nothing/x", ".",           "a/up/a/up/a/b", "to-dir/..",
      "to-dir/../b",    "/file",     "a/out/x",     "to-file/",      "",
      "a/b/../../file",
  };
  for (const char* const path : paths) {
    for (const int flags :
         {O_PATH, O_PATH | O_NOFOLLOW, O_RDONLY, O_RDONLY | O_DIRECTORY, O_RDONLY | O_NOFOLLOW}) {
      for (const Symlinks links : {Symlinks::inside, Symlinks::refused}) {
        const OpenHow how{.flags = flags, .symlinks = links};
        EXPECT_EQ(told(walk_beneath(root_, path, how)), told(open_beneath(root_, path, how)))
            << '"' << path << "\" flags " << flags << " links " << static_cast<int>(links);
      }
    }
  }
}

TEST_F(PathWalk, MakesWhatTheKernelMakes) {
  for (const char* const path : {"new", "a/new", "to-dir/new", "file", "nothing/new", "../new"}) {
    for (const int more : {0, O_EXCL}) {
      const OpenHow how{.flags = O_WRONLY | O_CREAT | more, .mode = 0600};
      const Result<Fd> walked = walk_beneath(root_, path, how);
      const std::string first = told(walked);
      if (walked && std::string_view{path} != "file") fs::remove(root_path_ / path);
      const Result<Fd> kernels = open_beneath(root_, path, how);
      EXPECT_EQ(walked.has_value(), kernels.has_value()) << path;
      if (!walked && !kernels) EXPECT_EQ(first, told(kernels)) << path;
      if (kernels && std::string_view{path} != "file") fs::remove(root_path_ / path);
    }
  }
}

}  // namespace
}  // namespace cordon::os
