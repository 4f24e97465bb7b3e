// SPDX-License-Identifier: Apache-2.0
// A moment as people and programs write it.
#pragma once

#include <string>

#include "base/clock.h"

namespace cordon {

// RFC 3339, in UTC, to the millisecond: "2026-01-31T23:59:59.999Z".
std::string to_text(WallTime time);

}  // namespace cordon
