// SPDX-License-Identifier: Apache-2.0
#include "guest/file_way.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include "os/file.h"
#include "os/path_walk.h"

namespace cordon::guest {
namespace {

std::string without_slashes_behind(std::string path) {
  path.erase(path.find_last_not_of('/') + 1);
  return path;
}

bool is_path(const std::string& path) {
  return path.starts_with('/') && path.find('\0') == std::string::npos;
}

// By the kernel, where it can; gVisor's cannot.
Result<os::Fd> open_below(const os::Fd& root, const std::string& path, const os::OpenHow& how) {
  auto opened = os::open_beneath(root, path.c_str(), how);
  if (opened || opened.error().cause().value() != ENOSYS) return opened;
  return os::walk_beneath(root, path.c_str(), how);
}

bool is_missing(const Error& error) { return error.cause().value() == ENOENT; }

}  // namespace

Result<FileWay> FileWay::make(const std::string& beneath) {
  FileWay way;
  if (beneath.empty()) return way;
  if (!is_path(beneath)) return Error::from_errno("beneath", EINVAL);
  way.bound_ = without_slashes_behind(beneath);
  TRY(const os::Fd top, os::openat(os::at_cwd(), "/", O_PATH | O_DIRECTORY));
  const std::string inside = way.bound_.empty() ? "." : way.bound_.substr(1);
  TRY(way.root_,
      open_below(top, inside, {.flags = O_PATH | O_DIRECTORY, .symlinks = os::Symlinks::refused}));
  return way;
}

FileWay FileWay::below(os::Fd directory) {
  FileWay way;
  way.root_ = std::move(directory);
  way.links_ = os::Symlinks::refused;
  return way;
}

// Relative to the bound. Its own `..` are for the kernel to judge.
Result<std::string> FileWay::within(const std::string& path) const {
  if (!path.starts_with(bound_)) return Error::from_errno("beneath", EXDEV);
  std::string_view rest = std::string_view{path}.substr(bound_.size());
  if (!rest.empty() && !rest.starts_with('/')) return Error::from_errno("beneath", EXDEV);
  rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
  return std::string{rest.empty() ? "." : rest};
}

Result<os::Fd> FileWay::open(const std::string& path, int flags, mode_t mode) const {
  if (!is_path(path)) return Error::from_errno("path", EINVAL);
  if (!root_) return os::openat(os::at_cwd(), path.c_str(), flags, mode);
  TRY(const std::string inside, within(path));
  // The kernel takes a mode only where something may be made.
  return open_below(
      root_, inside,
      {.flags = flags, .mode = (flags & O_CREAT) != 0 ? mode : 0, .symlinks = links_});
}

Result<FileWay::Place> FileWay::place(const std::string& path) const {
  if (!is_path(path)) return Error::from_errno("path", EINVAL);
  const std::string entry = without_slashes_behind(path);
  TRY_DO(within(entry));
  if (entry.size() <= bound_.size()) return Error::from_errno("path", EINVAL);
  const std::size_t slash = entry.find_last_of('/');
  Place place{.name = entry.substr(slash + 1)};
  if (place.name == "." || place.name == "..") return Error::from_errno("path", EINVAL);
  TRY(place.directory, open(entry.substr(0, slash + 1), O_PATH | O_DIRECTORY));
  return place;
}

Result<FileWay::Place> FileWay::make_place(const std::string& path) const {
  auto found = place(path);
  if (found || !is_missing(found.error())) return found;
  const std::string entry = without_slashes_behind(path);
  TRY_DO(make_directories(entry.substr(0, entry.find_last_of('/'))));
  return place(path);
}

// From the top down, each opened anew by its whole path: a link on the way leads where it leads.
Status FileWay::make_directories(const std::string& path) const {
  for (std::size_t end = path.find_first_not_of('/'); end < path.size();) {
    end = std::min(path.find('/', end), path.size());
    const std::string above = path.substr(0, end);
    end = std::min(path.find_first_not_of('/', end), path.size());
    if (above.size() < bound_.size()) continue;
    auto there = open(above, O_PATH | O_DIRECTORY);
    if (there) continue;
    if (!is_missing(there.error())) return std::move(there).error();
    TRY(const Place missing, place(above));
    if (::mkdirat(missing.directory.get(), missing.name.c_str(), 0755) != 0 && errno != EEXIST) {
      return Error::from_errno("mkdirat");
    }
    // A link that leads nowhere, or a file: not a directory now, and never by us.
    TRY(there, open(above, O_PATH | O_DIRECTORY));
  }
  return {};
}

}  // namespace cordon::guest
