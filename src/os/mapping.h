// SPDX-License-Identifier: Apache-2.0
// A file in memory that several processes see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

class Mapping {
 public:
  // Makes `file` at least `size` bytes long, all zero where nothing was, and maps those. Memory is
  // taken where it is written to.
  static Result<Mapping> shared(const Fd& file, std::size_t size);
  // A part of what is in the kernel's hands already, such as a map of eBPF, as it is.
  enum class Access : std::uint8_t { read, write };
  static Result<Mapping> of(const Fd& map, std::size_t offset, std::size_t size, Access access);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping();

  std::span<std::byte> bytes() const noexcept { return bytes_; }
  // Gives the memory of whole pages back: they are zero again. Before: `part` begins and ends at
  // pages.
  static void forget(std::span<std::byte> part);

 private:
  explicit Mapping(std::span<std::byte> bytes) : bytes_{bytes} {}
  std::span<std::byte> bytes_;
};

}  // namespace cordon::os
