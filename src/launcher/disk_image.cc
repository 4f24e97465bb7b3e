// SPDX-License-Identifier: Apache-2.0
// Template, nameless copy, loop device, detached mount.
#include "launcher/disk_image.h"

#include <cstdint>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "launcher/disk_template.h"
#include "os/copy_file.h"
#include "os/file.h"
#include "os/loop_device.h"
#include "os/mount.h"

namespace cordon::launcher {
namespace {

// Of ext4, and in no header of the C library's: stop at once, write nothing more.
constexpr unsigned long kShutdown = _IOR('X', 125, std::uint32_t);
constexpr std::uint32_t kWithoutFlushing = 2;

Result<os::Fd> mount_ext4(const os::LoopDevice& device) {
  TRY(const os::Fd context, os::fsopen("ext4"));
  TRY_DO(os::fsconfig_string(context, "source", device.path.c_str()));
  // A broken file system becomes read-only; it must never stop the host.
  TRY_DO(os::fsconfig_string(context, "errors", "remount-ro"));
  // Nobody reads it after a crash: no flush of the host's disk for a program's fsync, no thread
  // that fills tables with zeros which the sparse file has already.
  TRY_DO(os::fsconfig_string(context, "barrier", "0"));
  TRY_DO(os::fsconfig_flag(context, "noinit_itable"));
  TRY_DO(os::fsconfig_create(context));
  return os::fsmount(context, {.nosuid = true, .nodev = true, .noatime = true});
}

}  // namespace

Result<DiskImage> DiskImage::make(const frame::Disk& disk) {
  TRY(const os::Fd disks, open_disks());
  TRY(const os::Fd made, open_template(disks, disk));
  TRY(const os::Fd file, os::openat(disks, ".", O_TMPFILE | O_RDWR, 0600));
  TRY_DO(os::copy_contents(made, file));
  TRY(const os::LoopDevice device, os::attach_loop(file));
  TRY(os::Fd mount, mount_ext4(device));
  TRY(os::Fd top, os::openat(mount, ".", O_RDONLY | O_DIRECTORY));
  return DiskImage{std::move(mount), std::move(top), device.major, device.minor};
}

DiskImage::~DiskImage() {
  std::uint32_t how = kWithoutFlushing;
  if (top_) static_cast<void>(::ioctl(top_.get(), kShutdown, &how));
}

}  // namespace cordon::launcher
