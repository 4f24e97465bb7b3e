// SPDX-License-Identifier: Apache-2.0
#include "os/loop_device.h"

#include <array>
#include <chrono>
#include <fcntl.h>
#include <string_view>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "os/block_device.h"
#include "os/file.h"

namespace cordon::os {
namespace {

constexpr off_t kFileSize = 1 << 20;

Result<Fd> nameless_file() {
  TRY(Fd file, openat(at_cwd(), "/var/tmp", O_TMPFILE | O_RDWR, 0600));
  if (::ftruncate(file.get(), kFileSize) != 0) return Error::from_errno("ftruncate");
  return file;
}

TEST(LoopDevice, CarriesAFileAndClearsItselfWithItsLastUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: makes a device";
  if (::access("/dev/loop-control", F_OK) != 0) GTEST_SKIP() << "no loop devices here";
  auto file = nameless_file();
  ASSERT_TRUE(file) << file.error().text();
  auto loop = attach_loop(*file);
  ASSERT_TRUE(loop) << loop.error().text();
  const std::string backing =
      fmt::format("/sys/dev/block/{}:{}/loop/backing_file", loop->major, loop->minor);
  EXPECT_EQ(::access(backing.c_str(), F_OK), 0);
  ASSERT_EQ(::pwrite(loop->device.get(), "here", 4, 4096), 4);
  ASSERT_EQ(::fsync(loop->device.get()), 0);
  std::array<char, 4> seen{};
  ASSERT_EQ(::pread(file->get(), seen.data(), seen.size(), 4096), 4);
  EXPECT_EQ((std::string_view{seen.data(), seen.size()}), "here");

  loop->device = Fd{};
  // Nobody but us could have taken it since; if somebody has, the file is another.
  bool gone = false;
  for (int tried = 0; tried < 200 && !gone; ++tried) {
    const auto text = read_file(at_cwd(), backing.c_str());
    gone = !text || text->find("(deleted)") == std::string::npos;
    if (!gone) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  EXPECT_TRUE(gone);
}

TEST(BlockDevice, IsToldOnlyOfFileSystemsThatHaveOne) {
  const auto memory = openat(at_cwd(), "/proc", O_PATH | O_DIRECTORY);
  ASSERT_TRUE(memory);
  const auto none = block_device_of(*memory);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Errc::not_found);
}

TEST(BlockDevice, IsAWholeDisk) {
  const auto device = any_block_device();
  if (!device) GTEST_SKIP() << device.error().text();
  const std::string entry = fmt::format("/sys/dev/block/{}:{}", device->major, device->minor);
  EXPECT_EQ(::access(entry.c_str(), F_OK), 0);
  EXPECT_NE(::access((entry + "/partition").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace cordon::os
