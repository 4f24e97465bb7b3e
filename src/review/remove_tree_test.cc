// SPDX-License-Identifier: Apache-2.0
// C249: what a hostile run leaves can be removed, and nothing else goes with it.
#include "review/remove_tree.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/directory.h"
#include "os/file_status.h"
#include "review/fixture_test.h"

namespace cordon::review {
namespace {

class RemoveTree : public ReviewFixture {};

TEST_F(RemoveTree, RemovesFilesLinksAndDirectoriesOfAnyMode) {
  put(workspace() / "t/a/b/c/file", "");
  ASSERT_EQ(::mkfifo((workspace() / "t/a/pipe").c_str(), 0600), 0);
  std::filesystem::create_directory_symlink(outside(), workspace() / "t/link");
  std::filesystem::create_directory_symlink(outside(), workspace() / "t/a/b/link");
  for (const char* const shut : {"t/a/b/c", "t/a/b", "t/a", "t"}) {
    ASSERT_EQ(::chmod((workspace() / shut).c_str(), 0), 0);
  }
  const auto work = os::openat(os::at_cwd(), workspace().c_str(), O_RDONLY | O_DIRECTORY);
  const Status done = remove_tree(*work, "t");
  EXPECT_TRUE(done) << done.error().text();
  EXPECT_TRUE(std::filesystem::is_empty(workspace()));
  EXPECT_TRUE(remove_tree(*work, "t")) << "what is absent counts as removed";
}

TEST_F(RemoveTree, RemovesALinkAndNotItsTarget) {
  std::filesystem::create_directory_symlink(outside(), workspace() / "link");
  const auto work = os::openat(os::at_cwd(), workspace().c_str(), O_RDONLY | O_DIRECTORY);
  EXPECT_TRUE(remove_tree(*work, "link"));
  EXPECT_TRUE(std::filesystem::is_empty(workspace()));
}

TEST_F(RemoveTree, DeeperThanAnyPathOrDescriptorTable) {
  const auto work = os::openat(os::at_cwd(), workspace().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_TRUE(work);
  constexpr int kDepth = 3'000;
  auto at = os::openat(*work, ".", O_RDONLY | O_DIRECTORY);
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_TRUE(os::mkdirat(*at, "d", 0700));
    at = os::openat(*at, "d", O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(at);
  }
  ASSERT_TRUE(os::create_file(*at, "f", "", 0600));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 64, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Status done = remove_tree(*work, "d");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(done) << done.error().text();
  EXPECT_TRUE(std::filesystem::is_empty(workspace()));
}

TEST_F(RemoveTree, ManyFilesInManyDirectories) {
  for (int dir = 0; dir < 30; ++dir) {
    const auto path = workspace() / "t" / std::to_string(dir) / "sub";
    std::filesystem::create_directories(path);
    const auto fd = os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
    for (int file = 0; file < 30; ++file) {
      ASSERT_TRUE(os::create_file(*fd, std::to_string(file).c_str(), "", 0600));
    }
  }
  const auto work = os::openat(os::at_cwd(), workspace().c_str(), O_RDONLY | O_DIRECTORY);
  const Status done = remove_tree(*work, "t");
  EXPECT_TRUE(done) << done.error().text();
  EXPECT_TRUE(std::filesystem::is_empty(workspace()));
}

}  // namespace
}  // namespace cordon::review
