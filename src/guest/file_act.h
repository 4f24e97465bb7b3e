// SPDX-License-Identifier: Apache-2.0
// File operations for the host, done with the workload's rights and behind its fences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frame/guest.h"

namespace cordon::guest {

// The most that one reply brings; more is asked for again.
inline constexpr std::uint32_t kMostRead = std::uint32_t{1} << 20U;
inline constexpr std::size_t kMostEntries = 1000;

// Only regular files are read and written: a FIFO, a device or a directory is refused (EINVAL,
// EISDIR) and never waited for. Links on the way are followed; as the last component they are
// followed by read, write and list, and are the object itself for stat, remove and rename.
frame::FileReply act(const frame::FileRequest& request);

}  // namespace cordon::guest
