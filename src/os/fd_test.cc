// SPDX-License-Identifier: Apache-2.0
#include "os/fd.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "os/file.h"

namespace cordon::os {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
bool is_cloexec(const Fd& fd) { return (::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0; }

Fd open_null() {
  auto fd = openat(at_cwd(), "/dev/null", O_RDWR);
  return fd ? *std::move(fd) : Fd{};
}

TEST(Fd, ClosesWhatItOwnsExactlyOnce) {
  Fd fd = open_null();
  ASSERT_TRUE(fd);
  const int number = fd.get();
  {
    const Fd moved = std::move(fd);
    EXPECT_TRUE(is_open(number));
    EXPECT_FALSE(fd);  // NOLINT(bugprone-use-after-move): an Fd moved from is empty, by contract
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, ReleaseGivesTheOwnershipAway) {
  Fd fd = open_null();
  const int number = fd.release();
  fd = Fd{};
  EXPECT_TRUE(is_open(number));
  const Fd again{number};
}

TEST(Fd, AssignmentClosesTheOldDescriptorAndSurvivesItself) {
  Fd fd = open_null();
  const int old = fd.get();
  fd = open_null();
  EXPECT_TRUE(fd);
  const Fd taken = open_null();
  EXPECT_TRUE(taken.get() == old || !is_open(old));
  Fd& same = fd;
  fd = std::move(same);
  EXPECT_TRUE(is_open(fd.get()));
}

TEST(Fd, DuplicateIsAnotherCloexecDescriptorOfTheSameFile) {
  auto pipe = pipe2();
  ASSERT_TRUE(pipe);
  const auto copy = duplicate(pipe->write);
  ASSERT_TRUE(copy) << copy.error().text();
  EXPECT_NE(copy->get(), pipe->write.get());
  EXPECT_TRUE(is_cloexec(*copy));
  ASSERT_TRUE(write_all(*copy, "x"));
  pipe->write = Fd{};
  char byte = 0;
  EXPECT_EQ(::read(pipe->read.get(), &byte, 1), 1);
}

TEST(Fd, DuplicateOfAnEmptyFdNamesTheDescriptor) {
  const auto copy = duplicate(Fd{});
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().cause().value(), EBADF);
  EXPECT_NE(copy.error().text().find("fd -1"), std::string::npos);
}

TEST(Fd, InheritanceIsSwitchedPerDescriptor) {
  const Fd fd = open_null();
  EXPECT_TRUE(is_cloexec(fd));
  ASSERT_TRUE(set_inheritable(fd, true));
  EXPECT_FALSE(is_cloexec(fd));
  ASSERT_TRUE(set_inheritable(fd, false));
  EXPECT_TRUE(is_cloexec(fd));
}

TEST(Fd, NonblockingIsSwitchedBothWays) {
  const auto pipe = pipe2();
  ASSERT_TRUE(pipe);
  ASSERT_TRUE(set_nonblocking(pipe->read, true));
  char byte = 0;
  EXPECT_EQ(::read(pipe->read.get(), &byte, 1), -1);
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_TRUE(set_nonblocking(pipe->read, false));
  EXPECT_EQ(::fcntl(pipe->read.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(Fd, ProcPathReachesTheFileOfAPathDescriptor) {
  const auto root = openat(at_cwd(), "/proc", O_PATH);
  ASSERT_TRUE(root);
  const auto again = openat(at_cwd(), proc_path(*root).c_str(), O_RDONLY | O_DIRECTORY);
  EXPECT_TRUE(again) << again.error().text();
}

}  // namespace
}  // namespace cordon::os
