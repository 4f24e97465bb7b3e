// SPDX-License-Identifier: Apache-2.0
// User namespaces as values: made with their maps, entered or used for id-mapped mounts later.
#pragma once

#include <span>

#include "base/result.h"
#include "os/fd.h"
#include "os/id_map.h"

namespace cordon::launcher {

// A child of the caller's user namespace with these maps. It lives as long as the descriptor, or a
// process or mount that uses it.
Result<os::Fd> make_user_namespace(std::span<const os::IdRange> uids,
                                   std::span<const os::IdRange> gids);

}  // namespace cordon::launcher
