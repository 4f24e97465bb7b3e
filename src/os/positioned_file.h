// SPDX-License-Identifier: Apache-2.0
// An open file of our own, written at places that the caller chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Fills `bytes`; `invalid` where the file ends before that.
Status read_at(const Fd& file, std::uint64_t offset, std::span<std::byte> bytes);
// Returns when all is written, which is not yet on the disk.
Status write_at(const Fd& file, std::uint64_t offset, std::span<const std::byte> bytes);
// Returns when what was written is on the disk.
Status sync_data(const Fd& file);
// Gives the blocks of a part back; what is read there is zero. The file keeps its size.
Status punch_hole(const Fd& file, std::uint64_t offset, std::uint64_t size);

}  // namespace cordon::os
