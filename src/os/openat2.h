// SPDX-License-Identifier: Apache-2.0
// Finds a path below a root without ever leaving it.
#pragma once

#include <cstdint>
#include <fcntl.h>
#include <sys/types.h>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

enum class Symlinks : std::uint8_t {
  inside,   // followed as long as they stay below the root
  refused,  // any link, also as the last component, is an error
};

struct OpenHow {
  // O_PATH gives a handle to mount or stat from: use it through proc_path, never the path again,
  // because whoever shares the directory can replace any component meanwhile.
  int flags = O_PATH;
  mode_t mode = 0;  // only with O_CREAT or O_TMPFILE: the kernel refuses it otherwise
  Symlinks symlinks = Symlinks::inside;
};

// Opens `path`, which must be relative, below `root`. `..` above the root, absolute links and links
// that lead out are refused (invalid, EXDEV), as are the magic links of /proc (invalid, ELOOP).
// Adds O_CLOEXEC.
Result<Fd> open_beneath(const Fd& root, const char* path, const OpenHow& how = {});

// Like open_beneath, but `root` is "/": absolute paths and links, and `..` at the top, stay inside
// instead of being refused. For the inside of images.
Result<Fd> open_in_root(const Fd& root, const char* path, const OpenHow& how = {});

}  // namespace cordon::os
