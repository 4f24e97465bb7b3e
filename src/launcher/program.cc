// SPDX-License-Identifier: Apache-2.0
#include "launcher/program.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "os/file.h"
#include "os/memfd.h"

namespace cordon::launcher {
namespace {

constexpr std::size_t kMostProgram = std::size_t{16} << 20U;

// Locks of a process, not of a descriptor: a child does not inherit them, and they end with their
// holder whatever becomes of it.
int lock(const os::Fd& file, int command, short type) {
  struct flock whole{.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
  int result = 0;
  do {
    result = ::fcntl(file.get(), command, &whole);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

Result<os::Fd> open_beside(const char* name) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length < 0) return Error::from_errno("readlink /proc/self/exe");
  std::string beside{path.data(), static_cast<std::size_t>(length)};
  beside.resize(beside.rfind('/') + 1);
  beside += name;
  return os::openat(os::at_cwd(), beside.c_str(), O_RDONLY);
}

Result<Program> Program::open() {
  TRY(os::Fd source, open_beside("cordon-init"));
  TRY(os::Fd memory, os::memfd_create("cordon-init", os::Executable::yes));
  if (lock(memory, F_SETLK, F_WRLCK) != 0) return Error::from_errno("fcntl F_SETLK");
  return Program{std::move(source), std::move(memory)};
}

Status Program::fill() {
  if (!source_) return {};
  Status filled = os::fill_and_seal(memory_, source_, kMostProgram);
  source_ = os::Fd{};
  if (lock(memory_, F_SETLK, F_UNLCK) != 0) return Error::from_errno("fcntl F_SETLK");
  return filled;
}

Status Program::await() const {
  if (lock(memory_, F_SETLKW, F_RDLCK) != 0) return Error::from_errno("fcntl F_SETLKW");
  TRY(const bool sealed, os::is_sealed(memory_));
  if (!sealed) return Error{Errc::unavailable, "cordon-init was not copied"};
  return {};
}

}  // namespace cordon::launcher
