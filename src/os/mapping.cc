// SPDX-License-Identifier: Apache-2.0
#include "os/mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace cordon::os {

Result<Mapping> Mapping::shared(const Fd& file, std::size_t size) {
  struct stat st{};
  if (::fstat(file.get(), &st) != 0) return Error::from_errno("fstat");
  if (static_cast<std::size_t>(st.st_size) < size &&
      ::ftruncate(file.get(), static_cast<off_t>(size)) != 0) {
    return Error::from_errno("ftruncate");
  }
  void* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (at == MAP_FAILED) return Error::from_errno("mmap");
  return Mapping{std::span{static_cast<std::byte*>(at), size}};
}

Result<Mapping> Mapping::of(const Fd& map, std::size_t offset, std::size_t size, Access access) {
  const int rights = access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const at = ::mmap(nullptr, size, rights, MAP_SHARED, map.get(), static_cast<off_t>(offset));
  if (at == MAP_FAILED) return Error::from_errno("mmap");
  return Mapping{std::span{static_cast<std::byte*>(at), size}};
}

Mapping::Mapping(Mapping&& other) noexcept : bytes_{std::exchange(other.bytes_, {})} {}

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

void Mapping::forget(std::span<std::byte> part) {
  static_cast<void>(::madvise(part.data(), part.size(), MADV_REMOVE));
}

}  // namespace cordon::os
