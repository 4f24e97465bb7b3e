// SPDX-License-Identifier: Apache-2.0
#include "launcher/floor_sources.h"

#include <fcntl.h>

#include "launcher/floor.h"
#include "os/file.h"
#include "os/file_status.h"

namespace cordon::launcher {
namespace {

const char* below(const std::string& path, std::size_t tree) {
  const char* rest = path.c_str() + tree;
  while (*rest == '/') ++rest;
  return *rest == '\0' ? "." : rest;
}

Result<os::Fd> open_from(const os::Fd& directory, const char* path, int flags) {
  return os::open_beneath(directory, path, {.flags = flags, .symlinks = os::Symlinks::refused});
}

}  // namespace

Result<FloorSources> FloorSources::open(const std::vector<std::string>& paths) {
  FloorSources floor;
  TRY(floor.top_, os::openat(os::at_cwd(), "/", O_PATH | O_DIRECTORY));
  for (const std::string& path : paths) {
    auto opened = open_from(floor.top_, below(path, 1), O_PATH | O_NOFOLLOW);
    if (!opened) return std::move(opened).error().with("source " + path);
    TRY(const os::FileStatus status, os::statx(*opened));
    const bool directory = status.type == os::FileType::directory;
    floor.sources_.push_back({path, directory ? *std::move(opened) : os::Fd{}});
  }
  return floor;
}

Result<os::Fd> FloorSources::open_plain(const std::string& path, int flags) const {
  for (const Source& source : sources_) {
    if (!is_below(path, source.path)) continue;
    // What the floor itself names is looked up by that name; all else only from the directory.
    if (path == source.path) return open_from(top_, below(path, 1), flags);
    if (source.directory)
      return open_from(source.directory, below(path, source.path.size()), flags);
  }
  return Error{Errc::denied, "outside the floor"};
}

}  // namespace cordon::launcher
