// SPDX-License-Identifier: Apache-2.0
#include "os/memfd.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "os/file.h"

namespace cordon::os {
namespace {

TEST(Memfd, KeepsItsBytesAndIsClosedOnExec) {
  const auto memfd = memfd_create("scratch");
  ASSERT_TRUE(memfd) << memfd.error().text();
  EXPECT_NE(::fcntl(memfd->get(), F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_TRUE(write_all(*memfd, "abc"));
  ASSERT_EQ(::lseek(memfd->get(), 0, SEEK_SET), 0);
  EXPECT_EQ(*read_all(*memfd, 10), "abc");
}

TEST(Memfd, SealEndsEveryChange) {
  const auto memfd = memfd_create("scratch");
  ASSERT_TRUE(memfd);
  EXPECT_FALSE(*is_sealed(*memfd));
  ASSERT_TRUE(write_all(*memfd, "abc"));
  EXPECT_EQ(::ftruncate(memfd->get(), 2), 0) << "before the seal it can shrink";
  ASSERT_TRUE(seal(*memfd));
  EXPECT_TRUE(*is_sealed(*memfd));
  const auto write = write_all(*memfd, "d");
  ASSERT_FALSE(write);
  EXPECT_EQ(write.error().cause().value(), EPERM);
  EXPECT_NE(::ftruncate(memfd->get(), 0), 0);
  EXPECT_NE(::ftruncate(memfd->get(), 9), 0);
}

TEST(Memfd, IsSealedWhenWhoStillHoldsAPageLetsGo) {
  const auto memfd = memfd_create("scratch");
  ASSERT_TRUE(memfd && write_all(*memfd, "abc"));
  void* const page = ::mmap(nullptr, 3, PROT_READ | PROT_WRITE, MAP_SHARED, memfd->get(), 0);
  ASSERT_NE(page, MAP_FAILED);
  const Status early = seal(*memfd);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().cause().value(), EBUSY) << "not for ever";
  const std::jthread lets_go{[page] {
    std::this_thread::sleep_for(std::chrono::milliseconds{30});
    ::munmap(page, 3);
  }};
  const Status late = seal(*memfd);
  EXPECT_TRUE(late) << late.error().text();
}

TEST(Memfd, SealedFromBytesReadsFromTheStart) {
  const auto memfd = sealed_memfd("plan", as_bytes("bytes"));
  ASSERT_TRUE(memfd) << memfd.error().text();
  EXPECT_EQ(*read_all(*memfd, 10), "bytes");
  EXPECT_TRUE(*is_sealed(*memfd));
}

TEST(Memfd, IsFilledWithAWholeFileAndSealed) {
  const auto file = sealed_memfd("file", as_bytes("bytes"));
  const auto memfd = memfd_create("copy");
  ASSERT_TRUE(file && memfd);
  const Status filled = fill_and_seal(*memfd, *file, 5);
  ASSERT_TRUE(filled) << filled.error().text();
  EXPECT_TRUE(*is_sealed(*memfd));
  ASSERT_EQ(::lseek(memfd->get(), 0, SEEK_SET), 0);
  EXPECT_EQ(*read_all(*memfd, 10), "bytes");
}

TEST(Memfd, IsNotSealedWhereTheFileIsTooLong) {
  const auto file = sealed_memfd("file", as_bytes("bytes"));
  const auto memfd = memfd_create("copy");
  ASSERT_TRUE(file && memfd);
  EXPECT_FALSE(fill_and_seal(*memfd, *file, 4));
  EXPECT_FALSE(*is_sealed(*memfd));
}

TEST(Memfd, OfAnOrdinaryFileCannotBeSealed) {
  const auto pipe = pipe2();
  ASSERT_TRUE(pipe);
  EXPECT_FALSE(seal(pipe->write));
  EXPECT_FALSE(is_sealed(pipe->read));
}

TEST(Memfd, IsExecutableOnlyWhenAsked) {
  const auto mode_of = [](Executable executable) {
    const auto memfd = memfd_create("program", executable);
    struct stat what{};
    return memfd && ::fstat(memfd->get(), &what) == 0 ? what.st_mode & 0111U : ~0U;
  };
  EXPECT_EQ(mode_of(Executable::yes), 0111U);
  if (mode_of(Executable::no) == 0111U) GTEST_SKIP() << "kernel before 6.3: no noexec seal";
  EXPECT_EQ(mode_of(Executable::no), 0U);
}

}  // namespace
}  // namespace cordon::os
