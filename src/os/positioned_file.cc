// SPDX-License-Identifier: Apache-2.0
#include "os/positioned_file.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cordon::os {

Status read_at(const Fd& file, std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("pread");
    if (got == 0) return Error{Errc::invalid, "the file ends too early"};
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Status write_at(const Fd& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return Error::from_errno("pwrite");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return {};
}

Status sync_data(const Fd& file) {
  if (::fdatasync(file.get()) != 0) return Error::from_errno("fdatasync");
  return {};
}

Status punch_hole(const Fd& file, std::uint64_t offset, std::uint64_t size) {
  constexpr int kHole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (::fallocate(file.get(), kHole, static_cast<off_t>(offset), static_cast<off_t>(size)) != 0) {
    return Error::from_errno("fallocate");
  }
  return {};
}

}  // namespace cordon::os
