// SPDX-License-Identifier: Apache-2.0
#include "os/file.h"

#include <cerrno>
#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "os/test_support.h"

namespace cordon::os {
namespace {

TEST(File, ReadsExactlyTheBoundAndRefusesOneByteMore) {
  const TempDir dir;
  ASSERT_TRUE(create_file(dir.fd(), "f", std::string(100, 'a'), 0600));
  const auto all = read_file(dir.fd(), "f", 100);
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_EQ(all->size(), 100U);
  const auto cut = read_file(dir.fd(), "f", 99);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code(), Errc::exhausted);
  EXPECT_EQ(cut.error().text(), "f: read: more than 99 bytes");
}

TEST(File, ReadsFilesThatAreLargerThanOneChunk) {
  const TempDir dir;
  std::string big(100'000, 'a');
  big.back() = 'z';
  ASSERT_TRUE(create_file(dir.fd(), "f", big, 0600));
  const auto all = read_file(dir.fd(), "f");
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, big);
}

TEST(File, NamesThePathThatCouldNotBeOpened) {
  const TempDir dir;
  const auto text = read_file(dir.fd(), "absent");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code(), Errc::not_found);
  EXPECT_EQ(text.error().text(), "absent: openat: No such file or directory");
}

TEST(File, WriteFileMakesNoFile) {
  const TempDir dir;
  EXPECT_EQ(outcome(write_file(dir.fd(), "absent", "x")),
            "absent: openat: No such file or directory");
  ASSERT_TRUE(create_file(dir.fd(), "present", "abc", 0600));
  ASSERT_TRUE(write_file(dir.fd(), "present", "x"));
  EXPECT_EQ(*read_file(dir.fd(), "present"), "xbc") << "and it truncates none";
}

TEST(File, WriteFileReportsTheKernelsRefusal) {
  const auto refused = write_file(at_cwd(), "/dev/full", "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause().value(), ENOSPC);
  EXPECT_TRUE(write_file(at_cwd(), "/dev/null", "x"));
}

TEST(File, CreateFileRefusesWhatExistsAlsoAsADanglingLink) {
  const TempDir dir;
  ASSERT_TRUE(create_file(dir.fd(), "f", "1", 0600));
  const auto again = create_file(dir.fd(), "f", "2", 0600);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Errc::exists);
  ASSERT_EQ(::symlinkat("elsewhere", dir.fd().get(), "link"), 0);
  EXPECT_FALSE(create_file(dir.fd(), "link", "2", 0600));
  EXPECT_FALSE(read_file(dir.fd(), "elsewhere"));
}

TEST(File, EveryOpenedFileIsClosedOnExec) {
  const auto null = openat(at_cwd(), "/dev/null", O_RDWR);
  ASSERT_TRUE(null);
  EXPECT_EQ(::fcntl(null->get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  const auto pipe = pipe2();
  ASSERT_TRUE(pipe);
  EXPECT_EQ(::fcntl(pipe->read.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(::fcntl(pipe->write.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(File, WriteAllPutsMoreThanAPipeHolds) {
  auto pipe = pipe2();
  ASSERT_TRUE(pipe);
  const std::string big(300'000, 'p');
  std::thread writer{[&] {
    EXPECT_TRUE(write_all(pipe->write, big));
    pipe->write = Fd{};
  }};
  const auto all = read_all(pipe->read, big.size());
  writer.join();
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, big);
}

}  // namespace
}  // namespace cordon::os
