// SPDX-License-Identifier: Apache-2.0
#include "os/erofs.h"

#include <cerrno>
#include <fcntl.h>

#include "os/file.h"
#include "os/loop_device.h"
#include "os/mount.h"

namespace cordon::os {
namespace {

Result<Fd> mount_from(const char* source) {
  TRY(const Fd context, fsopen("erofs"));
  TRY_DO(fsconfig_string(context, "source", source));
  TRY_DO(fsconfig_flag(context, "ro"));
  TRY_DO(fsconfig_create(context));
  return fsmount(context, {.read_only = true, .nosuid = true, .nodev = true});
}

}  // namespace

Result<Fd> mount_erofs(const std::string& path) {
  auto mounted = mount_from(path.c_str());
  if (mounted || mounted.error().cause().value() != ENOTBLK) return mounted;
  TRY(const Fd file, openat(at_cwd(), path.c_str(), O_RDONLY | O_NOFOLLOW));
  TRY(const LoopDevice device, attach_loop(file));
  return mount_from(device.path.c_str());
}

}  // namespace cordon::os
