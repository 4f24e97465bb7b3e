// SPDX-License-Identifier: Apache-2.0
// A frame for a sandbox's pid 1.
#pragma once

#include "base/result.h"
#include "frame/guest.h"
#include "os/fd.h"

namespace cordon::launcher {

// Whole, or an Error: never waits.
Status tell(const os::Fd& control, const frame::ToGuest& frame);

}  // namespace cordon::launcher
