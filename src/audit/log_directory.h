// SPDX-License-Identifier: Apache-2.0
// Where the log lies: in the directory `audit` of whoever's state it is, which nobody else may
// enter.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

inline constexpr const char* kLogDirectory = "audit";

// Makes it where there is none. `denied`: it is a link, or others may write there.
Result<os::Fd> make_log_directory(const os::Fd& state);
// `not_found` where there is none.
Result<os::Fd> open_log_directory(const os::Fd& state);

}  // namespace cordon::audit
