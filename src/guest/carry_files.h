// SPDX-License-Identifier: Apache-2.0
// Carries what the machine's kernel asks for files to the host, and the answers back.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::guest {

// `fuse`: of mount_tree; `port`: to the host; neither blocks. Ends when `until`, a pidfd, does, or
// with an Error when the host answers no more.
Status carry_files(const os::Fd& fuse, const os::Fd& port, const os::Fd& until);

}  // namespace cordon::guest
