// SPDX-License-Identifier: Apache-2.0
// A read-only file system in a file.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// A detached mount of the file at `path`; before Linux 6.12 through a loop device that goes with
// it. Needs root in the first user namespace.
Result<Fd> mount_erofs(const std::string& path);

}  // namespace cordon::os
