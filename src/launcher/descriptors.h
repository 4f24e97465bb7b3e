// SPDX-License-Identifier: Apache-2.0
// What a program finds open when it begins.
#pragma once

#include <array>
#include <span>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// Above every place that a program's descriptors have.
inline constexpr int kAbovePlaces = 32;

// A copy that is in nobody's way, closed at exec.
Result<os::Fd> lift(const os::Fd& fd);

// 0, 1 and 2 become `standard`, what follows `wanted` in its order, and everything else is closed
// at exec. Whoever owns a descriptor at such a place must not use it any more.
Status place_descriptors(const std::array<const os::Fd*, 3>& standard,
                         std::span<const os::Fd* const> wanted);

}  // namespace cordon::launcher
