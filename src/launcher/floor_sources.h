// SPDX-License-Identifier: Apache-2.0
// The directories of the floor, opened once: all that a sandbox sees of the host is opened from
// them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "os/openat2.h"

namespace cordon::launcher {

class FloorSources {
 public:
  // Before: the caller is in its own mount namespace. Directories are held from here on: one that
  // is replaced later is not followed. A floor may also name a file, or a link of the host's own
  // tree (/bin): these are opened anew each time, and nothing lies beneath them. `invalid`: a
  // source is missing, or a link leads to it.
  static Result<FloorSources> open(const std::vector<std::string>& paths);

  // `path`, of one plain spelling, beneath the source that holds it; no link is followed, whoever
  // made it. `denied`: it lies beneath none.
  Result<os::Fd> open_plain(const std::string& path, int flags) const;

 private:
  struct Source {
    std::string path;
    os::Fd directory;  // empty for what is none
  };
  os::Fd top_;  // "/"
  std::vector<Source> sources_;
};

}  // namespace cordon::launcher
