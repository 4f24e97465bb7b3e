// SPDX-License-Identifier: Apache-2.0
#include "os/file_lock.h"

#include <cerrno>
#include <sys/file.h>

namespace cordon::os {
namespace {

Status lock(const Fd& fd, Lock kind, int flags) {
  const int how = kind == Lock::shared ? LOCK_SH : LOCK_EX;
  int result = 0;
  do {
    result = ::flock(fd.get(), how | flags);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return {};
  if (errno == EWOULDBLOCK) return Error{Errc::unavailable, "flock: held by another"};
  return Error::from_errno("flock");
}

}  // namespace

Status try_flock(const Fd& fd, Lock kind) { return lock(fd, kind, LOCK_NB); }

Status wait_flock(const Fd& fd, Lock kind) { return lock(fd, kind, 0); }

void unlock(const Fd& fd) noexcept { ::flock(fd.get(), LOCK_UN); }

}  // namespace cordon::os
