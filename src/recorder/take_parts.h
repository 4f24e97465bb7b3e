// SPDX-License-Identifier: Apache-2.0
// What holds the program in the kernel, from who has loaded it (cordon-bpf).
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::recorder {

// One message at `link`: so many descriptors, or why there are none. `unavailable`: that, or
// nothing came in time.
Result<std::vector<os::Fd>> take_parts(const os::Fd& link, std::size_t count,
                                       std::chrono::seconds patience);

}  // namespace cordon::recorder
