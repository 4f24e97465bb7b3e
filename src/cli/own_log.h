// SPDX-License-Identifier: Apache-2.0
// The caller's own audit log, for who writes to it.
#pragma once

#include <memory>
#include <string>

#include "audit/log.h"
#include "base/clock.h"
#include "base/result.h"

namespace cordon::cli {

// Made where there is none. `clock` outlives it.
Result<std::unique_ptr<audit::Log>> open_own_log(const std::string& state, const Clock& clock);

}  // namespace cordon::cli
