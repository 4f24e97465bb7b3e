// SPDX-License-Identifier: Apache-2.0
// What a plan really holds, mechanism by mechanism.
#pragma once

#include "plan/files.h"
#include "plan/limits.h"
#include "plan/request.h"
#include "record/enforcement.h"

namespace cordon::plan {

// `plan`: identity and fences are set. The names are stable: reports, records and tests know them.
Enforcement enforcement_of(const Request& request, const frame::LaunchPlan& plan,
                           const Files& files, const Limiting& limiting);

}  // namespace cordon::plan
