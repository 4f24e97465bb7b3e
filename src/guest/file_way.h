// SPDX-License-Identifier: Apache-2.0
// How the paths of a file act are found: as the workload would, or never out of one directory.
#pragma once

#include <string>
#include <sys/types.h>

#include "base/result.h"
#include "os/fd.h"
#include "os/openat2.h"

namespace cordon::guest {

class FileWay {
 public:
  // `beneath`: absolute, and no component of it may be a link (ELOOP); empty: no bound. With one,
  // every path is held below it, by the kernel (openat2) or where it cannot by os/path_walk.h: who
  // swaps a directory for a link meanwhile gains nothing.
  static Result<FileWay> make(const std::string& beneath);

  // Below a directory that is open: "/a" is the entry `a` in it, and no component may be a link
  // (ELOOP).
  static FileWay below(os::Fd directory);

  // `path`: absolute. EXDEV: it lies, or leads, outside.
  Result<os::Fd> open(const std::string& path, int flags, mode_t mode = 0) const;

  // Where an entry is, or will be: whatever is done with `name` in `directory` stays there.
  struct Place {
    os::Fd directory;
    std::string name;  // neither empty nor a dot, nor two
  };
  // The last component is not followed. EINVAL where it names no entry: "/", "..", the bound
  // itself.
  Result<Place> place(const std::string& path) const;
  // With the directories above it that are missing.
  Result<Place> make_place(const std::string& path) const;
  // That directory too.
  Status make_directories(const std::string& path) const;

 private:
  Result<std::string> within(const std::string& path) const;

  std::string bound_;  // without a slash at its end; empty: none
  os::Fd root_;
  os::Symlinks links_ = os::Symlinks::inside;
};

}  // namespace cordon::guest
