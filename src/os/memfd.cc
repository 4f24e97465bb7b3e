// SPDX-License-Identifier: Apache-2.0
// memfd_create and its seals.
#include "os/memfd.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <thread>
#include <unistd.h>

#include "os/file.h"
#include "os/kernel_abi.h"

namespace cordon::os {
namespace {

constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
constexpr int kSealTries = 10;
constexpr std::chrono::milliseconds kBetweenSealTries{20};

}  // namespace

Result<Fd> memfd_create(const char* name, Executable executable) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const unsigned mode = executable == Executable::yes ? abi::kMfdExec : abi::kMfdNoexecSeal;
  int fd = ::memfd_create(name, kFlags | mode);
  // Kernels before 6.3 know neither flag and make every memfd executable.
  if (fd < 0 && errno == EINVAL) fd = ::memfd_create(name, kFlags);
  if (fd < 0) return Error::from_errno("memfd_create").with(name);
  return Fd{fd};
}

// A kernel that is just moving one of its pages about waits for that itself, but not for long.
Status seal(const Fd& memfd) {
  for (int left = kSealTries;; --left) {
    if (::fcntl(memfd.get(), F_ADD_SEALS, kSeals) == 0) return {};
    if (errno != EBUSY || left == 0) return Error::from_errno("fcntl F_ADD_SEALS");
    std::this_thread::sleep_for(kBetweenSealTries);
  }
}

Result<bool> is_sealed(const Fd& memfd) {
  const int seals = ::fcntl(memfd.get(), F_GET_SEALS);
  if (seals < 0) return Error::from_errno("fcntl F_GET_SEALS");
  return (seals & kSeals) == kSeals;
}

namespace {

// The end of the file is where it ends while it is read, whatever its size was before.
Status copy_into(const Fd& memfd, const Fd& file, std::size_t most) {
  for (std::size_t copied = 0; copied <= most;) {
    // One byte past the bound tells "exactly full" from "too long".
    const ssize_t put = ::sendfile(memfd.get(), file.get(), nullptr, most + 1 - copied);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Error::from_errno("sendfile");
    if (put == 0) return {};
    copied += static_cast<std::size_t>(put);
  }
  return Error{Errc::exhausted, "sendfile: more than " + std::to_string(most) + " bytes"};
}

}  // namespace

Result<Fd> sealed_memfd(const char* name, std::span<const std::byte> bytes, Executable executable) {
  TRY(Fd memfd, memfd_create(name, executable));
  TRY_DO(write_all(memfd, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  TRY_DO(seal(memfd));
  if (::lseek(memfd.get(), 0, SEEK_SET) < 0) return Error::from_errno("lseek").with(name);
  return memfd;
}

Status fill_and_seal(const Fd& memfd, const Fd& file, std::size_t most) {
  TRY_DO(copy_into(memfd, file, most));
  return seal(memfd);
}

}  // namespace cordon::os
