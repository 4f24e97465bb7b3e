// SPDX-License-Identifier: Apache-2.0
// Images of a store, as plans know them.
#pragma once

#include <string>

#include "base/result.h"
#include "frame/launch_plan.h"
#include "os/fd.h"
#include "plan/situation.h"
#include "policy/policy.h"

namespace cordon::node {

// The images that the documents name, and `usual` where that is not empty, as far as the store has
// them and `situation` does not know them: of those that tenants have built its own tenant's. A
// store that is not there has none.
Status add_images(const std::string& store, const policy::Policy& policy, const std::string& usual,
                  plan::Situation& situation);

// Keeps the tree of an image as it is for as long as it is open; nothing where no tree can change.
Result<os::Fd> hold_image_root(const frame::LaunchPlan& plan, const plan::Situation& situation);

}  // namespace cordon::node
