// SPDX-License-Identifier: Apache-2.0
// The sandbox's own disk as a file of the host: for disks that are larger than its memory.
#pragma once

#include "base/result.h"
#include "frame/launch_plan.h"
#include "os/fd.h"

namespace cordon::launcher {

// An image is a copy of a template that we made ourselves, it is mounted once and no sandbox has
// written to it before: the kernel never reads a file system whose bytes a workload chose. It has
// no name from its beginning, and its device clears itself: when all that use it have ended, by
// whatever end, the kernel frees device and file.
class DiskImage {
 public:
  // Before: root. Directories of the launcher are opened here, at the first image.
  static Result<DiskImage> make(const frame::Disk& disk);

  DiskImage(DiskImage&&) noexcept = default;
  DiskImage& operator=(DiskImage&&) = delete;
  // Before: no process uses it any more. What was not written yet is thrown away, which is all of
  // it that anybody would wait for.
  ~DiskImage();

  // A detached mount, to be put in place by the sandbox's first process. Once.
  os::Fd take_mount() noexcept { return std::move(mount_); }

  unsigned major() const noexcept { return major_; }
  unsigned minor() const noexcept { return minor_; }

 private:
  DiskImage(os::Fd mount, os::Fd top, unsigned major, unsigned minor)
      : mount_{std::move(mount)}, top_{std::move(top)}, major_{major}, minor_{minor} {}

  os::Fd mount_;
  os::Fd top_;  // keeps the file system until we let go
  unsigned major_;
  unsigned minor_;
};

}  // namespace cordon::launcher
