// SPDX-License-Identifier: Apache-2.0
// Directories for file acts: what is in one, and removing one with all below it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "os/fd.h"

namespace cordon::guest {

// The entry itself: a link is not followed. `name` is as given.
Result<frame::FileEntry> describe(const os::Fd& directory, const std::string& name);

// Without `.` and `..`, in no order.
Result<std::vector<std::string>> names_in(const os::Fd& directory);

// A file, a link, or a directory with all below it; follows no link. Stops at the first entry that
// cannot be removed.
Status remove_tree(const std::string& path);

}  // namespace cordon::guest
