// SPDX-License-Identifier: Apache-2.0
#include "launcher/overlay.h"

#include <unistd.h>

#include "os/file.h"

namespace cordon::launcher {

Result<os::Fd> mount_overlay(const os::Fd& disk, const OverlayPaths& paths, const HostIds& ids,
                             const os::MountAttributes& attributes) {
  TRY(const os::Fd context, os::fsopen("overlay"));
  TRY_DO(os::fchdir(disk));
  TRY_DO(os::fsconfig_string(context, "lowerdir", paths.lower));
  TRY_DO(os::fsconfig_string(context, "upperdir", paths.upper));
  TRY_DO(os::fsconfig_string(context, "workdir", paths.work));
  TRY_DO(os::fsconfig_string(context, "redirect_dir", "nofollow"));
  TRY_DO(os::fsconfig_string(context, "metacopy", "off"));
  TRY_DO(os::fsconfig_string(context, "index", "off"));
  TRY_DO(os::fsconfig_string(context, "xino", "off"));
  if (::geteuid() != 0 || ids.workload_uid == ::geteuid()) {
    TRY_DO(os::fsconfig_flag(context, "userxattr"));
  }
  TRY_DO(os::fsconfig_create(context));
  return os::fsmount(context, attributes);
}

}  // namespace cordon::launcher
