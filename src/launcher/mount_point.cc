// SPDX-License-Identifier: Apache-2.0
#include "launcher/mount_point.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>

#include "os/file.h"
#include "os/openat2.h"

namespace cordon::launcher {
namespace {

// Only our own file system gets new names: a directory of the host never gets any from us.
Status make_directory(const os::Fd& root, const os::Fd& at, const std::string& name) {
  struct stat own{};
  struct stat here{};
  if (::fstat(root.get(), &own) != 0 || ::fstat(at.get(), &here) != 0) {
    return Error::from_errno("fstat");
  }
  if (own.st_dev != here.st_dev) return {};
  if (::mkdirat(at.get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
    return Error::from_errno("mkdirat").with(name);
  }
  return {};
}

}  // namespace

SplitPath split_last(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"/", path};
  return {slash == 0 ? std::string_view{"/"} : path.substr(0, slash), path.substr(slash + 1)};
}

Result<os::Fd> make_directory_in(const os::Fd& root, std::string_view path) {
  constexpr os::OpenHow kDirectory{.flags = O_PATH | O_DIRECTORY,
                                   .symlinks = os::Symlinks::refused};
  while (path.ends_with('/')) path.remove_suffix(1);
  while (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) return os::duplicate(root);
  // Most parents are there already: one call instead of four for each component.
  if (auto there = os::open_beneath(root, std::string{path}.c_str(), kDirectory)) return there;
  const auto [parent, name] = split_last(path);
  TRY(const os::Fd at, make_directory_in(root, parent));
  const std::string leaf{name};
  TRY_DO(make_directory(root, at, leaf));
  auto made = os::open_beneath(at, leaf.c_str(), kDirectory);
  if (!made) return std::move(made).error().with(path);
  return made;
}

Result<os::Fd> make_file_in(const os::Fd& root, std::string_view path) {
  const auto [parent, name] = split_last(path);
  TRY(const os::Fd dir, make_directory_in(root, parent));
  const std::string leaf{name};
  auto there = os::openat(dir, leaf.c_str(), O_PATH | O_NOFOLLOW);
  if (there) return there;
  return os::openat(dir, leaf.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
}

}  // namespace cordon::launcher
