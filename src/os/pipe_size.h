// SPDX-License-Identifier: Apache-2.0
// How much a pipe holds before its writer has to wait.
#pragma once

#include <cstddef>

#include "os/fd.h"

namespace cordon::os {

// Asks for as many bytes; where the kernel gives fewer the pipe is only slower.
void widen_pipe(const Fd& end, std::size_t bytes) noexcept;

}  // namespace cordon::os
