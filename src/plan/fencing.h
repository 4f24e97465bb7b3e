// SPDX-License-Identifier: Apache-2.0
// What a spawner puts on: filter, capabilities, Landlock.
#pragma once

#include "frame/fences.h"
#include "plan/files.h"
#include "plan/identity.h"
#include "plan/request.h"

namespace cordon::plan {

// The newest Landlock ABI that this version uses.
inline constexpr int kNewestLandlock = 7;

// Without limits: those come from limits.h.
frame::Fences fences_of(const Request& request, const Root& root, const Files& files,
                        const Identity& identity);

}  // namespace cordon::plan
