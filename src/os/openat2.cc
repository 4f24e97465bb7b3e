// SPDX-License-Identifier: Apache-2.0
// openat2 with the resolve flags that keep a path below its root.
#include "os/openat2.h"

#include <cerrno>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cordon::os {
namespace {

Result<Fd> openat2(const Fd& root, const char* path, const OpenHow& how, unsigned resolve) {
  open_how raw{};
  raw.flags = static_cast<unsigned>(how.flags) | O_CLOEXEC;
  raw.mode = how.mode;
  raw.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  if (how.symlinks == Symlinks::refused) raw.resolve |= RESOLVE_NO_SYMLINKS;
  // EAGAIN: a rename anywhere on the machine raced with a `..`, and the kernel could not prove that
  // the path stayed below. A hostile renamer could keep this up, so the tries are bounded.
  constexpr int kTries = 64;
  long fd = -1;
  for (int tried = 0; tried < kTries; ++tried) {
    fd = ::syscall(SYS_openat2, root.get(), path, &raw, sizeof raw);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  if (fd < 0) return Error::from_errno("openat2").with(path);
  return Fd{static_cast<int>(fd)};
}

}  // namespace

Result<Fd> open_beneath(const Fd& root, const char* path, const OpenHow& how) {
  return openat2(root, path, how, RESOLVE_BENEATH);
}

Result<Fd> open_in_root(const Fd& root, const char* path, const OpenHow& how) {
  return openat2(root, path, how, RESOLVE_IN_ROOT);
}

}  // namespace cordon::os
