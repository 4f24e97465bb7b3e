// SPDX-License-Identifier: Apache-2.0
// Directories for file acts: what is in one, and removing one with all below it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "os/fd.h"

namespace cordon::guest {

// The entry itself: a link is not followed. `name` is as given.
Result<frame::FileEntry> describe(const os::Fd& directory, const std::string& name);
// What is open, also by O_PATH; without a name.
Result<frame::FileEntry> describe(const os::Fd& object);

// Without `.` and `..`, in no order.
Result<std::vector<std::string>> names_in(const os::Fd& directory);

// A file, a link, or an empty directory.
Status remove_entry(const os::Fd& directory, const std::string& name);

// A file, a link, or a directory with all below it; follows no link. Stops at the first entry that
// cannot be removed, and after `most`: true, there is more.
Result<bool> remove_tree(const os::Fd& directory, const std::string& name, std::size_t most);

}  // namespace cordon::guest
