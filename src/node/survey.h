// SPDX-License-Identifier: Apache-2.0
// Looks through the caller's directories for what the policy hides or protects, before a launch.
#pragma once

#include "base/result.h"
#include "plan/situation.h"
#include "policy/policy.h"

namespace cordon::node {

// What plan::trees_to_survey asks for. Follows no link; looks at plan::kMostSurveyed entries at
// most and says so when that was not all. A directory that cannot be read counts as not looked at.
Result<plan::Survey> survey(const policy::Policy& policy, const plan::Situation& situation);

}  // namespace cordon::node
