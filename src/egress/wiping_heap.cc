// SPDX-License-Identifier: Apache-2.0
// The program's own operators new and delete. Those for arrays, and those that are told a size, end
// in these by the language's own rules where nobody else has replaced them; a sanitizer has, so all
// of them are here.
#include "egress/wiping_heap.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <span>

#include "base/wiped.h"

namespace cordon::egress {
namespace {

std::atomic<int> wipers{0};

[[maybe_unused]] void* allocated(std::size_t size, std::size_t alignment) {
  const std::size_t wanted = size == 0 ? 1 : size;
  for (;;) {
    void* memory = nullptr;
    if (alignment <= alignof(std::max_align_t)) {
      memory = std::malloc(wanted);
    } else if (::posix_memalign(&memory, alignment, wanted) != 0) {
      memory = nullptr;
    }
    if (memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) return nullptr;
    handler();
  }
}

[[maybe_unused]] void* allocated_or_thrown(std::size_t size,
                                           std::size_t alignment = alignof(std::max_align_t)) {
  void* const memory = allocated(size, alignment);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

[[maybe_unused]] void give_back(void* memory) noexcept {
  if (memory != nullptr && wipers.load(std::memory_order_relaxed) > 0)
    wipe({static_cast<std::byte*>(memory), ::malloc_usable_size(memory)});
  std::free(memory);
}

}  // namespace

WipingHeap::WipingHeap() noexcept { wipers.fetch_add(1, std::memory_order_relaxed); }
WipingHeap::~WipingHeap() { wipers.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace cordon::egress

// ThreadSanitizer's own cannot be replaced: where it runs nothing is wiped.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CORDON_HEAP_IS_THE_SANITIZERS
#endif
#endif
#ifndef CORDON_HEAP_IS_THE_SANITIZERS
using cordon::egress::allocated;
using cordon::egress::allocated_or_thrown;
using cordon::egress::give_back;
using Size = std::size_t;
using Align = std::align_val_t;
using Quiet = const std::nothrow_t&;
constexpr Size kUsual = alignof(std::max_align_t);

// NOLINTBEGIN(misc-new-delete-overloads,readability-inconsistent-declaration-parameter-name)
void* operator new(Size size) { return allocated_or_thrown(size); }
void* operator new[](Size size) { return allocated_or_thrown(size); }
void* operator new(Size size, Align to) { return allocated_or_thrown(size, static_cast<Size>(to)); }
void* operator new[](Size size, Align to) {
  return allocated_or_thrown(size, static_cast<Size>(to));
}
void* operator new(Size size, Quiet /*quiet*/) noexcept { return allocated(size, kUsual); }
void* operator new[](Size size, Quiet /*quiet*/) noexcept { return allocated(size, kUsual); }
void* operator new(Size size, Align to, Quiet /*quiet*/) noexcept {
  return allocated(size, static_cast<Size>(to));
}
void* operator new[](Size size, Align to, Quiet /*quiet*/) noexcept {
  return allocated(size, static_cast<Size>(to));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, Size /*size*/) noexcept { give_back(memory); }
void operator delete[](void* memory, Size /*size*/) noexcept { give_back(memory); }
void operator delete(void* memory, Align /*to*/) noexcept { give_back(memory); }
void operator delete[](void* memory, Align /*to*/) noexcept { give_back(memory); }
void operator delete(void* memory, Size /*size*/, Align /*to*/) noexcept { give_back(memory); }
void operator delete[](void* memory, Size /*size*/, Align /*to*/) noexcept { give_back(memory); }
void operator delete(void* memory, Quiet /*quiet*/) noexcept { give_back(memory); }
void operator delete[](void* memory, Quiet /*quiet*/) noexcept { give_back(memory); }
void operator delete(void* memory, Align /*to*/, Quiet /*quiet*/) noexcept { give_back(memory); }
void operator delete[](void* memory, Align /*to*/, Quiet /*quiet*/) noexcept { give_back(memory); }
// NOLINTEND(misc-new-delete-overloads,readability-inconsistent-declaration-parameter-name)
#endif
