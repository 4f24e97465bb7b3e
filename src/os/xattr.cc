// SPDX-License-Identifier: Apache-2.0
// Through /proc/self/fd, because the f…xattr calls refuse O_PATH descriptors.
#include "os/xattr.h"

#include <cerrno>
#include <linux/limits.h>
#include <sys/xattr.h>

namespace cordon::os {

Result<std::vector<std::string>> list_xattr(const Fd& fd) {
  const std::string path = proc_path(fd);
  // Most files have none: ask for the size before making room.
  const ssize_t size = ::listxattr(path.c_str(), nullptr, 0);
  if (size == 0 || (size < 0 && errno == ENOTSUP)) return std::vector<std::string>{};
  if (size < 0) return Error::from_errno("listxattr");
  std::string raw(XATTR_LIST_MAX, '\0');
  const ssize_t got = ::listxattr(path.c_str(), raw.data(), raw.size());
  if (got < 0) return Error::from_errno("listxattr");
  raw.resize(static_cast<std::size_t>(got));
  std::vector<std::string> names;
  for (std::size_t at = 0; at < raw.size(); at += names.back().size() + 1) {
    names.emplace_back(raw.c_str() + at);
  }
  return names;
}

Result<std::string> get_xattr(const Fd& fd, const char* name) {
  std::string value(XATTR_SIZE_MAX, '\0');
  const ssize_t got = ::getxattr(proc_path(fd).c_str(), name, value.data(), value.size());
  if (got < 0 && errno == ENODATA) return Error{Errc::not_found, std::string{name} + ": not set"};
  if (got < 0) return Error::from_errno("getxattr").with(name);
  value.resize(static_cast<std::size_t>(got));
  return value;
}

Status set_xattr(const Fd& fd, const char* name, std::string_view value) {
  if (::setxattr(proc_path(fd).c_str(), name, value.data(), value.size(), 0) != 0) {
    return Error::from_errno("setxattr").with(name);
  }
  return {};
}

}  // namespace cordon::os
