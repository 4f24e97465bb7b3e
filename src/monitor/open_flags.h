// SPDX-License-Identifier: Apache-2.0
// Which flags of an open mean that something is written: as the program in the kernel has them.
#pragma once

#include <cstdint>

namespace cordon::monitor {

// O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, and the second bit of O_TMPFILE.
inline constexpr std::uint32_t kOpenWrites = 01U | 02U | 0100U | 01000U | 020000000U;

}  // namespace cordon::monitor
