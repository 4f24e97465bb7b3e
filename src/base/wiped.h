// SPDX-License-Identifier: Apache-2.0
// Memory that is set to zero before it goes back: for secrets that pass through.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace cordon {

// Never left out by a compiler that sees nobody read the zeros.
void wipe(std::span<std::byte> bytes) noexcept;

template <class T>
class WipingAllocator {
 public:
  using value_type = T;

  WipingAllocator() noexcept = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) { return std::allocator<T>{}.allocate(count); }
  void deallocate(T* memory, std::size_t count) noexcept {
    wipe(std::as_writable_bytes(std::span{memory, count}));
    std::allocator<T>{}.deallocate(memory, count);
  }

  friend bool operator==(WipingAllocator, WipingAllocator) noexcept { return true; }
};

// Wiped also where it grows: no earlier, smaller piece is left behind. Of small things only, since
// a string would keep short texts inside itself, where no allocator sees them.
template <class T>
using WipedVector = std::vector<T, WipingAllocator<T>>;
using WipedBytes = WipedVector<std::byte>;

}  // namespace cordon
