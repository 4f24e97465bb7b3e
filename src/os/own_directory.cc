// SPDX-License-Identifier: Apache-2.0
#include "os/own_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"

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

Result<std::string> read_own_file(const std::string& path, std::size_t most) {
  TRY(const Fd file, openat(at_cwd(), path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  TRY(const struct stat st, own_stat(file, path));
  if (!S_ISREG(st.st_mode) || (st.st_mode & 022U) != 0) {
    return Error{Errc::denied, path + " can be written by others"};
  }
  return read_all(file, most);
}

}  // namespace cordon::os
