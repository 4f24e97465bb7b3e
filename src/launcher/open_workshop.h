// SPDX-License-Identifier: Apache-2.0
// What a launcher prepares before its first sandbox, in local use.
#pragma once

#include "base/result.h"
#include "launcher/launch.h"
#include "os/fd.h"

namespace cordon::launcher {

// Before: the caller has one thread. Without root it enters a user namespace of its own, says so on
// `node` (one byte) and goes on when the node, having written the maps, answers with kMapsHaveSpare
// or kMapsAreOwn. After: a mount namespace of its own, which receives the host's mounts and gives
// none.
Result<Workshop> open_workshop(const os::Fd& node);

inline constexpr std::byte kMapsHaveSpare{2};  // ids beside the caller's own are mapped
inline constexpr std::byte kMapsAreOwn{1};     // nothing but the caller's own id, setgroups denied

}  // namespace cordon::launcher
