// SPDX-License-Identifier: Apache-2.0
// Waiting for one descriptor, by a thread that has nothing else to do.
#pragma once

#include <chrono>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Whether something can be read, or its other end has gone, before `patience` is over.
Result<bool> wait_readable(const Fd& fd, std::chrono::milliseconds patience);

}  // namespace cordon::os
