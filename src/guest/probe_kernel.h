// SPDX-License-Identifier: Apache-2.0
// What the kernel that a sandbox stands on lacks, found out inside it.
#pragma once

#include <cstdint>

namespace cordon::guest {

// Bits of frame/guest.h: kLacksStatx, kLacksAmbient.
std::uint32_t probe_kernel();

}  // namespace cordon::guest
