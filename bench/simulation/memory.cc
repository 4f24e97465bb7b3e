// SPDX-License-Identifier: Apache-2.0
#include "simulation/memory.h"

#include <array>
#include <cstdlib>
#include <malloc.h>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.h"

namespace {
std::size_t g_freed = 0;
}  // namespace

// Counts what the program gives back, with malloc's own word for each piece.
void* operator new(std::size_t size) {
  if (void* const memory = std::malloc(size))
    return memory;  // NOLINT(cppcoreguidelines-no-malloc): this is operator new
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) g_freed += ::malloc_usable_size(memory) + sizeof(std::size_t);
  std::free(memory);
}  // NOLINT(cppcoreguidelines-no-malloc): this is operator delete
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace cordon::simulation {
namespace {

template <class Kept>
std::size_t freed_with(std::optional<Kept> kept) {
  const std::size_t before = g_freed;
  kept.reset();
  return g_freed - before;
}

// `held`: what is known of each.
template <class Held>
std::size_t heap_of_ids(std::size_t count, const Held& held) {
  std::map<std::array<std::uint64_t, 2>, Held> kept;
  for (std::uint64_t i = 0; i < count; ++i) kept.emplace(std::array{i, i}, held);
  return freed_with(std::optional{std::move(kept)});
}

}  // namespace

std::size_t heap_of(fleet::Roster roster) { return freed_with(std::optional{std::move(roster)}); }

std::size_t heap_of_revocations(std::size_t count) { return heap_of_ids(count, WallTime{}); }

std::size_t heap_of_revocations_with_tenants(std::size_t count) {
  return heap_of_ids(count, std::pair{WallTime{}, std::string{"acme"}});
}

std::size_t heap_of_policies(std::size_t count, std::size_t bytes) {
  std::unordered_map<std::string, std::string> kept;
  for (std::size_t i = 0; i < count; ++i) {
    kept.emplace("tenant-of-some-name-" + std::to_string(i), std::string(bytes, 'p'));
  }
  return freed_with(std::optional{std::move(kept)});
}

}  // namespace cordon::simulation
