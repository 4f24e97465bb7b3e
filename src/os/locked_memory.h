// SPDX-License-Identifier: Apache-2.0
// Memory for secrets: never swapped, in no dump, in no child, zero when it goes.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/result.h"

namespace cordon::os {

class LockedMemory {
 public:
  LockedMemory() noexcept = default;
  // Whole pages of its own, all zero. `exhausted` where the process may lock no more.
  static Result<LockedMemory> create(std::size_t size);
  LockedMemory(LockedMemory&& other) noexcept : bytes_{std::exchange(other.bytes_, {})} {}
  LockedMemory& operator=(LockedMemory&& other) noexcept {
    LockedMemory dead{std::move(*this)};
    bytes_ = std::exchange(other.bytes_, {});
    return *this;
  }
  ~LockedMemory();

  std::span<std::byte> bytes() noexcept { return bytes_; }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  explicit LockedMemory(std::span<std::byte> bytes) noexcept : bytes_{bytes} {}
  std::span<std::byte> bytes_;
};

}  // namespace cordon::os
