// SPDX-License-Identifier: Apache-2.0
// Places to mount on, made where they are missing, in a tree whose content may be hostile.
#pragma once

#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// The directory `path` (absolute, inside `root`), each missing component made. A symbolic link on
// the way is refused (invalid): an image could lead the mount elsewhere.
Result<os::Fd> make_directory_in(const os::Fd& root, std::string_view path);

// The same for a file, made empty where missing: a place to mount on, perhaps O_PATH.
Result<os::Fd> make_file_in(const os::Fd& root, std::string_view path);

struct SplitPath {
  std::string_view parent;  // "/" for a name at the top
  std::string_view name;
};
SplitPath split_last(std::string_view path);

}  // namespace cordon::launcher
