// SPDX-License-Identifier: Apache-2.0
// The owner of one file descriptor.
#pragma once

#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>

#include "base/result.h"

namespace cordon::os {

// Owns a descriptor and closes it. Empty when default-made or moved from.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int fd) noexcept : fd_{fd} {}
  Fd(Fd&& other) noexcept : fd_{other.release()} {}
  Fd& operator=(Fd&& other) noexcept {
    const Fd dead{std::exchange(fd_, other.release())};
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }

  explicit operator bool() const noexcept { return fd_ >= 0; }
  // For system calls only; the Fd stays the owner.
  int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// Stands where a directory is asked for and the path is absolute, or relative to the working
// directory. It owns nothing and counts as empty.
inline Fd at_cwd() noexcept { return Fd{AT_FDCWD}; }

// A second descriptor of the same open file, CLOEXEC like all of ours.
Result<Fd> duplicate(const Fd& fd);

// Lets a descriptor pass through exec, or takes that back. It acts on this number only, never on
// duplicates.
Status set_inheritable(const Fd& fd, bool inheritable);

// Acts on the open file: whoever shares it, also in another process, sees the change.
Status set_nonblocking(const Fd& fd, bool nonblocking);

// "/proc/self/fd/N": the way to name an O_PATH descriptor to a call that takes only paths.
std::string proc_path(const Fd& fd);

// "fd N", for an error that has no path to tell.
std::string name_of(const Fd& fd);

}  // namespace cordon::os
