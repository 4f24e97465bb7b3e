// SPDX-License-Identifier: Apache-2.0
// Where the log lies: in the directory `audit` of whoever's state it is, which nobody else may
// enter.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

inline constexpr const char* kLogDirectory = "audit";

// Makes it where there is none. A link in its place is refused.
Result<os::Fd> make_log_directory(const os::Fd& state);

}  // namespace cordon::audit
