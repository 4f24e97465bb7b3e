// SPDX-License-Identifier: Apache-2.0
// The hashes that dropped segments have left.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "hash/sha256.h"
#include "os/fd.h"

namespace cordon::audit {

// Gives those of the segment that began with record `first` to `take`, in order, until it says
// false, which is given back. `invalid`: they do not end with a whole one.
Result<bool> read_leaves(const os::Fd& directory, std::uint64_t first,
                         const std::function<bool(const Digest&)>& take);

// Those of all records that are not kept any more, from record 0 on; gives how many there were.
// `invalid`: some are missing.
Result<std::uint64_t> read_all_leaves(const os::Fd& directory,
                                      const std::function<void(const Digest&)>& take);

}  // namespace cordon::audit
