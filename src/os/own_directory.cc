// SPDX-License-Identifier: Apache-2.0
#include "os/own_directory.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"
#include "os/openat2.h"

namespace cordon::os {
namespace {

Result<struct stat> own_stat(const Fd& fd, const std::string& path) {
  struct stat st{};
  if (::fstat(fd.get(), &st) != 0) return Error::from_errno("fstat").with(path);
  if (st.st_uid != ::geteuid()) return Error{Errc::denied, path + " belongs to somebody else"};
  return st;
}

}  // namespace

Result<Fd> open_own_directory(const std::string& path) {
  TRY(Fd dir, openat(at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  TRY(const struct stat st, own_stat(dir, path));
  if ((st.st_mode & 077U) != 0 && ::fchmod(dir.get(), 0700) != 0) {
    return Error::from_errno("fchmod").with(path);
  }
  return dir;
}

Result<Fd> open_guarded_directory(const std::string& path) {
  TRY(const Fd top, openat(at_cwd(), "/", O_PATH | O_DIRECTORY));
  auto dir = open_beneath(top, path.size() > 1 ? path.c_str() + 1 : ".",
                          {.flags = O_RDONLY | O_DIRECTORY, .symlinks = Symlinks::refused});
  if (!dir) {
    if (dir.error().cause().value() == ELOOP) {
      return Error{Errc::denied, path + ": a link leads there"};
    }
    return std::move(dir).error();
  }
  TRY(const struct stat st, own_stat(*dir, path));
  if ((st.st_mode & 022U) != 0) return Error{Errc::denied, path + " can be written by others"};
  return *std::move(dir);
}

Result<std::string> read_own_file(const Fd& dir, const std::string& name, std::size_t most) {
  auto file = openat(dir, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) {
    if (file.error().cause().value() == ELOOP) return Error{Errc::denied, name + " is a link"};
    return std::move(file).error();
  }
  TRY(const struct stat st, own_stat(*file, name));
  if (!S_ISREG(st.st_mode)) return Error{Errc::denied, name + " is no plain file"};
  if ((st.st_mode & 022U) != 0) return Error{Errc::denied, name + " can be written by others"};
  return read_all(*file, most);
}

Result<std::string> read_own_file(const std::string& path, std::size_t most) {
  return read_own_file(at_cwd(), path, most);
}

}  // namespace cordon::os
