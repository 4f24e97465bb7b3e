// SPDX-License-Identifier: Apache-2.0
// Entries, their status, attributes, locks and copies: what a careful walk of a tree is made of.
#include "os/directory.h"

#include <algorithm>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/copy_file.h"
#include "os/file.h"
#include "os/file_lock.h"
#include "os/file_status.h"
#include "os/test_support.h"
#include "os/xattr.h"

namespace cordon::os {
namespace {

TEST(Directory, ListsAllNamesAndStartsAgainEachTime) {
  const TempDir dir;
  constexpr int kMany = 3000;  // more than one buffer of the kernel's
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(create_file(dir.fd(), ("file-" + std::to_string(i)).c_str(), "", 0600));
  }
  for (int round = 0; round < 2; ++round) {
    auto names = list_directory(dir.fd(), kMany);
    ASSERT_TRUE(names) << names.error().text();
    std::ranges::sort(*names);
    EXPECT_EQ(std::ranges::unique(*names).size(), 0U);
    EXPECT_EQ(names->size(), kMany);
  }
  const auto bounded = list_directory(dir.fd(), kMany - 1);
  ASSERT_FALSE(bounded);
  EXPECT_EQ(bounded.error().code(), Errc::exhausted);
  const auto some = list_some(dir.fd(), 10);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->size(), 10U);
}

TEST(Directory, DescribesALinkAndNotItsTarget) {
  const TempDir dir;
  ASSERT_TRUE(create_file(dir.fd(), "f", "12345", 0640));
  ASSERT_TRUE(symlinkat("f", dir.fd(), "link"));
  EXPECT_EQ(statx(dir.fd(), "link")->type, FileType::symlink);
  EXPECT_EQ(*readlinkat(dir.fd(), "link"), "f");
  const auto file = statx(dir.fd(), "f");
  EXPECT_EQ(file->type, FileType::regular);
  EXPECT_EQ(file->size, 5U);
  EXPECT_GE(file->changed, file->born);
  EXPECT_EQ(statx(dir.fd(), "absent").error().code(), Errc::not_found);
}

TEST(Directory, RemovesTheLinkAndNotItsTarget) {
  const TempDir dir;
  ASSERT_TRUE(mkdirat(dir.fd(), "d", 0700));
  ASSERT_TRUE(symlinkat("d", dir.fd(), "link"));
  EXPECT_FALSE(rmdirat(dir.fd(), "link"));
  EXPECT_FALSE(unlinkat(dir.fd(), "d"));
  EXPECT_TRUE(unlinkat(dir.fd(), "link"));
  EXPECT_TRUE(statx(dir.fd(), "d"));
}

TEST(Directory, RenamesOverAnotherOnlyWhenAllowed) {
  const TempDir dir;
  ASSERT_TRUE(create_file(dir.fd(), "a", "a", 0600));
  ASSERT_TRUE(create_file(dir.fd(), "b", "b", 0600));
  EXPECT_EQ(renameat(dir.fd(), "a", dir.fd(), "b", Replace::refuse).error().code(), Errc::exists);
  EXPECT_TRUE(renameat(dir.fd(), "a", dir.fd(), "b", Replace::allow));
  EXPECT_EQ(*read_file(dir.fd(), "b"), "a");
}

TEST(Directory, ChangesTheModeOfADirectoryThatCannotBeOpened) {
  const TempDir dir;
  ASSERT_TRUE(mkdirat(dir.fd(), "shut", 0));
  const auto shut = openat(dir.fd(), "shut", O_PATH | O_DIRECTORY | O_NOFOLLOW);
  ASSERT_TRUE(shut);
  EXPECT_TRUE(fchmod(*shut, 0700));
  EXPECT_EQ(statx(*shut)->mode, 0700U);
}

TEST(Xattr, IsReadFromAFileThatIsOnlyAPath) {
  const TempDir dir;
  ASSERT_TRUE(create_file(dir.fd(), "f", "", 0600));
  const auto file = openat(dir.fd(), "f", O_PATH | O_NOFOLLOW);
  ASSERT_TRUE(file);
  if (const auto set = set_xattr(*file, "user.cordon.a", "1"); !set) {
    GTEST_SKIP() << "no user attributes here: " << set.error().text();
  }
  ASSERT_TRUE(set_xattr(*file, "user.cordon.b", ""));
  auto names = list_xattr(*file);
  ASSERT_TRUE(names);
  std::erase_if(*names, [](const std::string& name) { return !name.starts_with("user.cordon"); });
  std::ranges::sort(*names);
  EXPECT_EQ(*names, (std::vector<std::string>{"user.cordon.a", "user.cordon.b"}));
  EXPECT_EQ(*get_xattr(*file, "user.cordon.a"), "1");
  EXPECT_EQ(*get_xattr(*file, "user.cordon.b"), "");
  EXPECT_EQ(get_xattr(*file, "user.cordon.c").error().code(), Errc::not_found);
}

TEST(FileLock, HoldsUntilTheLastDuplicateIsClosed) {
  const TempDir dir;
  ASSERT_TRUE(create_file(dir.fd(), "lock", "", 0600));
  auto mine = openat(dir.fd(), "lock", O_RDONLY);
  auto copy = duplicate(*mine);
  const auto other = openat(dir.fd(), "lock", O_RDONLY);
  ASSERT_TRUE(mine && copy && other);
  ASSERT_TRUE(try_flock(*mine, Lock::exclusive));
  EXPECT_EQ(try_flock(*other, Lock::shared).error().code(), Errc::unavailable);
  *mine = Fd{};
  EXPECT_FALSE(try_flock(*other, Lock::exclusive));
  *copy = Fd{};
  EXPECT_TRUE(try_flock(*other, Lock::exclusive));
}

TEST(CopyFile, KeepsBytesAndHoles) {
  const TempDir dir;
  const auto from = openat(dir.fd(), "from", O_RDWR | O_CREAT, 0600);
  const auto to = openat(dir.fd(), "to", O_RDWR | O_CREAT, 0600);
  ASSERT_TRUE(from && to);
  constexpr off_t kFar = off_t{1} << 33U;  // 8 GiB: only possible when holes cost nothing
  ASSERT_EQ(::pwrite(from->get(), "begin", 5, 0), 5);
  ASSERT_EQ(::pwrite(from->get(), "end", 3, kFar), 3);
  ASSERT_EQ(::ftruncate(from->get(), kFar + 1000), 0);
  ASSERT_TRUE(copy_contents(*from, *to));
  struct stat status{};
  ASSERT_EQ(::fstat(to->get(), &status), 0);
  EXPECT_EQ(status.st_size, kFar + 1000);
  EXPECT_LT(status.st_blocks, 1024) << "holes were filled";
  std::string got(5, ' ');
  ASSERT_EQ(::pread(to->get(), got.data(), 5, 0), 5);
  EXPECT_EQ(got, "begin");
  ASSERT_EQ(::pread(to->get(), got.data(), 5, kFar), 5);
  EXPECT_EQ(got, std::string("end\0\0", 5));
}

}  // namespace
}  // namespace cordon::os
