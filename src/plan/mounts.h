// SPDX-License-Identifier: Apache-2.0
// The host's directories that a policy grants beside the workspace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frame/launch_plan.h"
#include "plan/refusals.h"
#include "plan/situation.h"
#include "policy/policy.h"

namespace cordon::plan {

// `~` and `~/x` with the caller's home.
std::string on_host(std::string_view source, const Situation& situation);

// Those mounts that every document grants, writable where every one says so, ordered by target. Two
// documents that show different things at one target are refused.
std::vector<frame::Bind> granted_mounts(const policy::Policy& policy, const Situation& situation,
                                        std::string_view workspace, Refusals& refusals);

}  // namespace cordon::plan
