// SPDX-License-Identifier: Apache-2.0
// Duplicating and marking descriptors.
#include "os/fd.h"

namespace cordon::os {
namespace {

Status set_flag(const Fd& fd, int get, int set, int flag, bool on) {
  const int flags = ::fcntl(fd.get(), get);
  if (flags < 0) return Error::from_errno("fcntl").with(name_of(fd));
  if (::fcntl(fd.get(), set, on ? flags | flag : flags & ~flag) < 0) {
    return Error::from_errno("fcntl").with(name_of(fd));
  }
  return {};
}

}  // namespace

Result<Fd> duplicate(const Fd& fd) {
  const int copy = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return Error::from_errno("fcntl F_DUPFD_CLOEXEC").with(name_of(fd));
  return Fd{copy};
}

Status set_inheritable(const Fd& fd, bool inheritable) {
  return set_flag(fd, F_GETFD, F_SETFD, FD_CLOEXEC, !inheritable);
}

Status set_nonblocking(const Fd& fd, bool nonblocking) {
  return set_flag(fd, F_GETFL, F_SETFL, O_NONBLOCK, nonblocking);
}

std::string proc_path(const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

std::string name_of(const Fd& fd) { return "fd " + std::to_string(fd.get()); }

}  // namespace cordon::os
