// SPDX-License-Identifier: Apache-2.0
#include "os/probe_disk.h"

#include <fcntl.h>
#include <unistd.h>

#include "os/file.h"
#include "os/loop_device.h"
#include "os/mount.h"
#include "os/probe_trial.h"

namespace cordon::os {
namespace {

constexpr off_t kTrialSize = 1 << 20;

// Where the launcher keeps its images, or where it will make that directory.
Result<Fd> make_file() {
  for (const char* place : {"/var/lib/cordon/disks", "/var/lib/cordon", "/var/lib"}) {
    if (::access(place, F_OK) == 0) return openat(at_cwd(), place, O_TMPFILE | O_RDWR, 0600);
  }
  return Error{Errc::not_found, "there is no /var/lib"};
}

Status use_an_image() {
  TRY(const Fd file, make_file());
  if (::ftruncate(file.get(), kTrialSize) != 0) return Error::from_errno("ftruncate");
  TRY(const LoopDevice loop, attach_loop(file));
  const char mark = 'c';
  char seen = 0;
  if (::pwrite(loop.device.get(), &mark, 1, 0) != 1 || ::pread(loop.device.get(), &seen, 1, 0) != 1)
    return Error::from_errno("a loop device");
  if (seen != mark) return Error{Errc::unavailable, "a loop device keeps nothing"};
  TRY(const Fd context, fsopen("ext4"));
  return {};
}

}  // namespace

Fact probe_disk_images(const Caller& caller) {
  if (!caller.root) return {Support::blocked, "only root may mount one", {}};
  if (::access("/usr/sbin/mke2fs", X_OK) != 0 && ::access("/sbin/mke2fs", X_OK) != 0) {
    return {Support::absent, "there is no mke2fs (e2fsprogs)", {}};
  }
  const Status used = use_an_image();
  return used ? ok_fact("ext4 on a loop device") : refused_fact(used.error());
}

}  // namespace cordon::os
