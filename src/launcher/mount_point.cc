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
  TRY(os::Fd at, os::duplicate(root));
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t slash = rest.find('/');
    const std::string part{rest.substr(0, slash)};
    rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
    if (part.empty()) continue;
    TRY_DO(make_directory(root, at, part));
    auto next = os::open_beneath(
        at, part.c_str(), {.flags = O_PATH | O_DIRECTORY, .symlinks = os::Symlinks::refused});
    if (!next) return std::move(next).error().with(path);
    at = *std::move(next);
  }
  return at;
}

Result<os::Fd> make_file_in(const os::Fd& root, std::string_view path) {
  const auto [parent, name] = split_last(path);
  TRY(const os::Fd dir, make_directory_in(root, parent));
  const std::string leaf{name};
  auto there = os::openat(dir, leaf.c_str(), O_PATH | O_NOFOLLOW);
  if (there) return there;
  TRY_DO(os::create_file(dir, leaf.c_str(), "", 0644));
  return os::openat(dir, leaf.c_str(), O_PATH | O_NOFOLLOW);
}

}  // namespace cordon::launcher
