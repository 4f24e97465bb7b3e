// SPDX-License-Identifier: Apache-2.0
// Files without a name: scratch space, and bytes that nobody can change any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

enum class Executable : std::uint8_t { no, yes };

// An empty file in memory that can be sealed. `name` is only shown in /proc. `no` is held by the
// kernel since 6.3 and is a wish before.
Result<Fd> memfd_create(const char* name, Executable executable = Executable::no);

// Fixes content and size for good, for every holder. Before: no writable mapping exists; one that
// is about to go, or a page that the kernel holds, is waited for, a fifth of a second at most.
Status seal(const Fd& memfd);

// True when nobody can change content or size, nor take seals back. Ask it of a memfd that came
// over a socket before mapping it: a sender could change it under the reader, or shrink it.
Result<bool> is_sealed(const Fd& memfd);

// A sealed file with these bytes, to be read from the start.
Result<Fd> sealed_memfd(const char* name, std::span<const std::byte> bytes,
                        Executable executable = Executable::no);

// Copies `file`, which has at most `most` bytes, into an empty memfd and seals that. The bytes do
// not pass through the caller's memory.
Status fill_and_seal(const Fd& memfd, const Fd& file, std::size_t most);

}  // namespace cordon::os
