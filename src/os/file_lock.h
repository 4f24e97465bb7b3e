// SPDX-License-Identifier: Apache-2.0
// A lock that ends with the last descriptor of its open file, however its holders end.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

enum class Lock : std::uint8_t { shared, exclusive };

// Takes the lock or fails at once: `unavailable` (EWOULDBLOCK) when another open file holds it.
// Duplicates, also those that children inherit, share it: it is held until all are closed.
Status try_flock(const Fd& fd, Lock kind);
// The same, but waits until it is free.
Status wait_flock(const Fd& fd, Lock kind);
void unlock(const Fd& fd) noexcept;

}  // namespace cordon::os
