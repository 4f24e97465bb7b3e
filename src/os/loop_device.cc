// SPDX-License-Identifier: Apache-2.0
// loop-control and LOOP_CONFIGURE: found, attached and set up in one call.
#include "os/loop_device.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "os/file.h"

namespace cordon::os {
namespace {

// Others attach devices too: one that was free may be taken by then.
constexpr int kAttachTries = 64;
constexpr unsigned kBlock = 4096;

Result<int> free_device(const Fd& control) {
  const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
  if (number < 0) return Error::from_errno("LOOP_CTL_GET_FREE");
  return number;
}

// False: somebody was faster.
Result<bool> configure(const Fd& device, const Fd& file) {
  loop_config config{};
  config.fd = static_cast<unsigned>(file.get());
  config.block_size = kBlock;
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
  if (::ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) return true;
  if (errno == EBUSY) return false;
  return Error::from_errno("LOOP_CONFIGURE");
}

}  // namespace

Result<LoopDevice> attach_loop(const Fd& file) {
  TRY(const Fd control, openat(at_cwd(), "/dev/loop-control", O_RDWR));
  for (int tried = 0; tried < kAttachTries; ++tried) {
    TRY(const int number, free_device(control));
    LoopDevice found{.device = {}, .path = "/dev/loop" + std::to_string(number)};
    TRY(found.device, openat(at_cwd(), found.path.c_str(), O_RDWR));
    struct stat status{};
    if (::fstat(found.device.get(), &status) != 0) return Error::from_errno("fstat");
    if (!S_ISBLK(status.st_mode)) return Error{Errc::invalid, found.path + " is no block device"};
    found.major = major(status.st_rdev);
    found.minor = minor(status.st_rdev);
    TRY(const bool attached, configure(found.device, file));
    if (attached) return found;
  }
  return Error{Errc::exhausted, "no loop device stays free"};
}

}  // namespace cordon::os
