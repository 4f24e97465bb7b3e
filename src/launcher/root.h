// SPDX-License-Identifier: Apache-2.0
// The sandbox's file tree, built from nothing in the sandbox's own mount namespace.
#pragma once

#include "base/result.h"
#include "launcher/floor.h"
#include "launcher/sources.h"
#include "os/fd.h"

namespace cordon::launcher {

// Builds the tree and makes it "/". Before: a fresh mount and pid namespace, with the rights to
// mount in them. After: nothing of the host is left in the namespace but what the plan shows; "/"
// is read-only. Gives /proc/sys/user of this pid namespace, still writable: keep it for the last
// settings, hand it to nobody.
Result<os::Fd> build_root(const JudgedPlan& plan, const HostIds& ids, const Sources& sources);

}  // namespace cordon::launcher
