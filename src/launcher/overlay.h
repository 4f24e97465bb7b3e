// SPDX-License-Identifier: Apache-2.0
// Overlays on a sandbox's own disk: one way to mount them, whatever they lie over.
#pragma once

#include "base/result.h"
#include "launcher/sources.h"
#include "os/fd.h"
#include "os/mount.h"

namespace cordon::launcher {

// By paths relative to the disk: they are what the sandbox reads in its list of mounts.
struct OverlayPaths {
  const char* lower;
  const char* upper;
  const char* work;
};

// Detached. No redirects and no metadata-only copies: what is in the upper layer stands there as it
// is, and what lies below, which may be anybody's, is not followed.
Result<os::Fd> mount_overlay(const os::Fd& disk, const OverlayPaths& paths, const HostIds& ids,
                             const os::MountAttributes& attributes);

}  // namespace cordon::launcher
