// SPDX-License-Identifier: Apache-2.0
// How much a directory of the workspace holds: what its deletion would take.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "os/file_status.h"
#include "review/tree_entry.h"

namespace cordon::review {

struct TreeSize {
  std::uint64_t entries = 0;
  os::FileTime newest;  // the latest change of any entry, the directory itself included
  bool whole = true;    // false: a bound was met or something could not be read
};

// Counts at most `most` entries down to `depth` levels.
TreeSize measure(const Entry& directory, std::size_t most, std::size_t depth);

}  // namespace cordon::review
