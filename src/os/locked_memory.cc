// SPDX-License-Identifier: Apache-2.0
#include "os/locked_memory.h"

#include <cerrno>
#include <sys/mman.h>

#include "base/wiped.h"

namespace cordon::os {

Result<LockedMemory> LockedMemory::create(std::size_t size) {
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Error::from_errno("mmap");
  LockedMemory made{std::span{static_cast<std::byte*>(memory), size}};
  if (::madvise(memory, size, MADV_DONTDUMP) != 0) return Error::from_errno("madvise DONTDUMP");
  if (::madvise(memory, size, MADV_DONTFORK) != 0) return Error::from_errno("madvise DONTFORK");
  if (::mlock(memory, size) != 0) {
    // EAGAIN and EPERM too mean that the limit of locked memory is reached.
    return Error{Errc::exhausted, "mlock: no more memory may be locked (RLIMIT_MEMLOCK)"};
  }
  return made;
}

LockedMemory::~LockedMemory() {
  if (bytes_.empty()) return;
  wipe(bytes_);
  ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace cordon::os
