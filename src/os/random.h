// SPDX-License-Identifier: Apache-2.0
// Bytes that nobody can guess.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Fills all of `bytes` from the kernel's generator; waits only before it is first seeded.
Status getrandom(std::span<std::byte> bytes);

template <std::size_t N>
Result<std::array<std::byte, N>> random_bytes() {
  std::array<std::byte, N> bytes{};
  TRY_DO(getrandom(bytes));
  return bytes;
}

// The kernel's generator, to be seeded.
Result<Fd> open_random();
// Mixes `bytes` into it as random ones, and what is drawn next comes from them too. CAP_SYS_ADMIN.
Status reseed(const Fd& random, std::span<const std::byte> bytes);

}  // namespace cordon::os
