// SPDX-License-Identifier: Apache-2.0
// SIGTERM and SIGINT as something to wait for beside all else.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// Polls readable once one of them has come. No signal is blocked for it: what a sandbox inherits
// stays as it was. Once in a process.
Result<os::Fd> catch_stop_signals();
// It polls readable again at the next one.
void forget_stop(const os::Fd& stopped);

}  // namespace cordon::launcher
